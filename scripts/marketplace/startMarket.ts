import { join } from "node:path";
import { type Program, startProgram } from "../process/startProgram.ts";
import type { LocalWorld } from "../world/startWorld.ts";

export type MarketPrograms = {
  // Where the marketplace and the daemon behind it listen.
  url: string;
  daemonUrl: string;
  marketplace: Program;
  daemon: Program;
  // What was started for the marketplace, to start it again.
  environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
};

export type MarketOptions = {
  serviceToken: string;
  // Whom people sign in to and tools trust. No program listens there.
  publicUrl: string;
  daemon?: Readonly<Record<string, string>>;
  marketplace?: Readonly<Record<string, string>>;
};

const NODE = "node_modules/.bin/node";
const MARKET = "marketplace/cli/market.mjs";

// A settlement daemon and a marketplace in front of it, each a program of its own, on a world's chain, with their files in a
// folder. The daemon has no operator's key unless it is given one: it accrues, and settles nothing.
export async function startMarket(
  world: Pick<LocalWorld, "chainId" | "url" | "router">,
  folder: string,
  options: MarketOptions,
): Promise<MarketPrograms> {
  const { PATH = "" } = process.env;
  const chain = { id: `${world.chainId}`, url: world.url, router: await world.router.getAddress() };
  const signingKeys = join(folder, "signing-keys.json");
  const daemon = startProgram(NODE, ["settlement/cli/settle.mjs", "daemon"], {
    env: {
      PATH,
      SETTLEMENT_CHAIN_ID: chain.id,
      SETTLEMENT_RPC_URLS: chain.url,
      SETTLEMENT_ROUTER: chain.router,
      SETTLEMENT_LEDGER: join(folder, "ledger.db"),
      SETTLEMENT_SERVICE_TOKEN: options.serviceToken,
      SETTLEMENT_LISTEN: "127.0.0.1:0",
      SETTLEMENT_HELP_URL: "https://help.example/cap",
      // One payer buys here in seconds what others buy in days.
      SETTLEMENT_CREDIT_USD: "1000000",
      ...options.daemon,
    },
  });
  const started: Program[] = [daemon];
  const stop = async () => {
    for (const program of started.toReversed()) await program.stop();
  };
  try {
    const made = startProgram(NODE, [MARKET, "signing-keys", "create", signingKeys], { env: { PATH } });
    const { code, stderr } = await made.ended;
    if (code !== 0) throw new Error(`the signing keys were not made: ${stderr}`);
    const daemonUrl = await listening(daemon);
    const environment = {
      PATH,
      MARKETPLACE_CHAIN_ID: chain.id,
      MARKETPLACE_RPC_URLS: chain.url,
      MARKETPLACE_ROUTER: chain.router,
      MARKETPLACE_DATABASE: join(folder, "marketplace.db"),
      MARKETPLACE_LISTEN: "127.0.0.1:0",
      MARKETPLACE_PUBLIC_URL: options.publicUrl,
      MARKETPLACE_SETTLEMENT_URL: daemonUrl,
      MARKETPLACE_SETTLEMENT_TOKEN: options.serviceToken,
      MARKETPLACE_SIGNING_KEYS: signingKeys,
      MARKETPLACE_PRIVATE_ENDPOINTS: "on",
      MARKETPLACE_HOLDER: "marketplace",
      ...options.marketplace,
    };
    const { program: marketplace, url } = await startMarketplaceProgram(environment);
    started.push(marketplace);
    return { url, daemonUrl, marketplace, daemon, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function startMarketplaceProgram(
  environment: Readonly<Record<string, string>>,
): Promise<{ program: Program; url: string }> {
  const program = startProgram(NODE, [MARKET, "serve"], { env: { ...environment } });
  return { program, url: await listening(program) };
}

async function listening(program: Program): Promise<string> {
  const [, url = ""] = await program.printed(/"event":"started","url":"([^"]+)"/);
  return url;
}
