import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, createPublicClient, http, type PublicClient } from "viem";
import { type ExampleName, startExamples } from "../../examples/startExamples.ts";
import type { QueryResult } from "../../marketplace/query/wire/result.ts";
import { createClient } from "../../scripts/client/createClient.ts";
import { makeApiKey, registerTool } from "../../scripts/marketplace/asWallet.ts";
import { startMarket } from "../../scripts/marketplace/startMarket.ts";
import { startWorld } from "../../scripts/world/startWorld.ts";
import { USDC_ADDRESS } from "../../scripts/world/world.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";

export type Asked =
  | { kind: "answered"; result: QueryResult }
  // The question failed, or was not even taken.
  | { kind: "failed"; error: string };

export type Questions = {
  ask(query: string, agentModelId?: string): Promise<Asked>;
  // The chain itself, for whoever checks what the tools say of it.
  chain: PublicClient;
  usdc: Address;
  accounts: readonly [Address, Address];
  url: string;
  key: string;
  close(): Promise<void>;
};

const SERVICE_TOKEN = "service-token-of-the-questions-0123456789";
const PUBLIC_URL = "https://market.example";
const OFFERED: readonly ExampleName[] = ["chain", "series", "text", "dates"];

// The example tools on a marketplace as in production, and somebody who pays for questions.
export async function openQuestions(marketplace: Readonly<Record<string, string>> = {}): Promise<Questions> {
  const folder = mkdtempSync(join(tmpdir(), "questions-"));
  const world = await startWorld({ tools: OFFERED.length, payers: 2 });
  const market = await startMarket(world, folder, {
    serviceToken: SERVICE_TOKEN,
    publicUrl: PUBLIC_URL,
    marketplace: { MARKETPLACE_RATE_LIMIT_PER_SECOND: "100000", ...marketplace },
  });
  const usdc = USDC_ADDRESS as Address;
  const examples = await startExamples({
    chain: { rpcUrl: world.url, usdc },
    marketplace: { issuer: PUBLIC_URL, jwksUrl: `${market.url}/.well-known/jwks.json` },
    toolIds: Object.fromEntries(world.tools.map(({ toolId }, i) => [OFFERED[i], uuidFromToolId(toolId)])),
  });
  const ask = createClient({ url: market.url, serviceToken: "" });
  for (const [i, name] of OFFERED.entries()) {
    const listed = world.tools[i];
    if (listed === undefined) throw new Error("the world has too few tools");
    const { name: shown, description, category, endpoint } = examples.tools[name];
    const registration = { toolId: uuidFromToolId(listed.toolId), name: shown, description, category, endpoint };
    const { listed: isListed, checks } = await registerTool(ask, listed.developer, registration);
    if (isListed !== true) throw new Error(`${shown} was not listed: ${JSON.stringify(checks)}`);
  }
  const [buyer, other] = world.payers;
  if (buyer === undefined || other === undefined) throw new Error("the world has too few payers");
  const key = await makeApiKey(ask, buyer, "questions");
  return {
    url: market.url,
    key,
    usdc,
    accounts: [buyer.address as Address, other.address as Address],
    chain: createPublicClient({ transport: http(world.url) }) as PublicClient,
    async ask(query, agentModelId) {
      const { status, body } = await ask("POST", "/api/v1/query", { query, agentModelId, stream: false }, { key });
      if (status !== 200) return { kind: "failed", error: String(body.error) };
      return { kind: "answered", result: body as unknown as QueryResult };
    },
    async close() {
      await examples.close();
      await market.stop();
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
