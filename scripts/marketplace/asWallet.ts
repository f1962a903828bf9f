import type { Ask } from "../client/createClient.ts";

export type Wallet = { address: string; signMessage(message: string): Promise<string> };

// Logs a wallet in by Sign-In with Ethereum: it signs what the marketplace asks it to. Answers the login's secret.
export async function signIn(ask: Ask, wallet: Wallet): Promise<string> {
  const asked = { wallet: wallet.address };
  return `${(await signed(ask, wallet, "/api/v1/auth/challenge", asked, "/api/v1/auth/login", {})).login}`;
}

export async function makeApiKey(ask: Ask, wallet: Wallet, name: string): Promise<string> {
  const key = await signIn(ask, wallet);
  const { body } = await expecting(201, ask("POST", "/api/v1/keys", { name }, { key }));
  return `${body.key}`;
}

// Lists a tool with the signature of its owner. Answers what the marketplace found when it tried it.
export async function registerTool(ask: Ask, owner: Wallet, registration: object): Promise<Record<string, unknown>> {
  return signed(ask, owner, "/api/v1/tools/challenge", registration, "/api/v1/tools", registration);
}

async function signed(
  ask: Ask,
  wallet: Wallet,
  challengePath: string,
  asked: object,
  path: string,
  body: object,
): Promise<Record<string, unknown>> {
  const { body: challenge } = await expecting(200, ask("POST", challengePath, asked, { key: null }));
  const message = `${challenge.message}`;
  const signature = await wallet.signMessage(message);
  return (await expecting(200, ask("POST", path, { ...body, message, signature }, { key: null }))).body;
}

async function expecting(status: number, asking: ReturnType<Ask>): ReturnType<Ask> {
  const reply = await asking;
  if (reply.status !== status) throw new Error(`the marketplace answered ${reply.status}: ${reply.text}`);
  return reply;
}
