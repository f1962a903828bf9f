import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { createMcpClient } from "../../marketplace/mcp/createMcpClient.ts";
import { createSigner } from "../../marketplace/signing/createSigner.ts";
import { readKeyring } from "../../marketplace/signing/keyring.ts";
import { createClient } from "../../scripts/client/createClient.ts";
import { makeApiKey, registerTool } from "../../scripts/marketplace/asWallet.ts";
import { startMarket } from "../../scripts/marketplace/startMarket.ts";
import { startProgram } from "../../scripts/process/startProgram.ts";
import { startWorld } from "../../scripts/world/startWorld.ts";
import { systemClock } from "../../settlement/clock.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import { measureSearch } from "./measureSearch.ts";

const CALLERS = 64;
const WARM_UP_MS = 2_000;
const MEASURED_MS = 5_000;
const SERVICE_TOKEN = "service-token-of-the-benchmark-0123456789";
const PUBLIC_URL = "https://market.example";

// One paid method bought by 64 callers at once, each call held and captured on disk, beside the same MCP server called by the
// marketplace's own MCP client without a marketplace. Daemon, marketplace and tool are programs of their own, as in production,
// and share the machine's cores with the callers.
export async function measureExecute() {
  const folder = mkdtempSync(join(tmpdir(), "bench-execute-"));
  const world = await startWorld({ tools: 1, payers: 1 });
  const market = await startMarket(world, folder, {
    serviceToken: SERVICE_TOKEN,
    publicUrl: PUBLIC_URL,
    marketplace: { MARKETPLACE_RATE_LIMIT_PER_SECOND: "100000" },
  });
  const tool = startProgram("node_modules/.bin/node", [
    "bench/execute/tool.ts",
    PUBLIC_URL,
    `${market.url}/.well-known/jwks.json`,
  ]);
  const pool = new Pool(market.url, { connections: CALLERS });
  const mcp = createMcpClient({ policy: "development" });
  try {
    const [, endpoint = ""] = await tool.printed(/"url":"([^"]+)"/);
    const [listed] = world.tools;
    const [buyer] = world.payers;
    if (listed === undefined || buyer === undefined) throw new Error("the world has no tool or no payer");
    const toolId = uuidFromToolId(listed.toolId);
    const ask = createClient({ url: market.url, serviceToken: "" });
    const registered = await registerTool(ask, listed.developer, {
      toolId,
      endpoint,
      name: "Sums",
      description: "Adds two numbers",
    });
    if (registered.listed !== true) throw new Error(`the tool was not listed: ${JSON.stringify(registered.checks)}`);
    const key = await makeApiKey(ask, buyer, "benchmark");
    const start = await ask("POST", "/api/v1/tools/execute/sessions", { mode: "execute", maxSpendUsd: "500" }, { key });
    const { sessionId } = start.body.session as { sessionId: string };

    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const body = JSON.stringify({ toolId, toolName: "add", mode: "execute", args: { a: 1, b: 2 }, sessionId });
    const buy = async () => {
      const reply = await pool.request({ method: "POST", path: "/api/v1/tools/execute", headers, body });
      const text = await reply.body.text();
      if (reply.statusCode !== 200) throw new Error(`execute was answered ${reply.statusCode}: ${text}`);
    };
    const { sign } = createSigner({
      issuer: PUBLIC_URL,
      keyring: () => readKeyring(join(folder, "signing-keys.json")),
      clock: systemClock,
    });
    const token = await sign({ endpoint, toolId });
    const direct = mcp.connect(endpoint);
    const call = async () => {
      const outcome = await direct.callTool("add", { a: 1, b: 2 }, { token: async () => token });
      if (outcome.kind !== "answered") throw new Error(`the tool was not reached: ${outcome.kind}`);
    };

    await load(call, WARM_UP_MS);
    await load(buy, WARM_UP_MS);
    // Each side twice and in turns, so that a disturbance does not hit one side only.
    const calls = [await load(call, MEASURED_MS)];
    const bought = [await load(buy, MEASURED_MS)];
    calls.push(await load(call, MEASURED_MS));
    bought.push(await load(buy, MEASURED_MS));
    const [own, plain] = [joined(bought), joined(calls)];
    return {
      callsPerSecond: Math.round(own.perSecond),
      directCallsPerSecond: Math.round(plain.perSecond),
      ratio: Math.round((own.perSecond / plain.perSecond) * 100) / 100,
      addedP50Ms: rounded(own.at(0.5) - plain.at(0.5)),
      addedP99Ms: rounded(own.at(0.99) - plain.at(0.99)),
      callers: CALLERS,
      ...measureSearch(),
    };
  } finally {
    await mcp.close();
    await pool.destroy();
    await tool.stop();
    await market.stop();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Load = { times: number[]; seconds: number };

// So many callers, each with one call at a time.
async function load(once: () => Promise<void>, durationMs: number): Promise<Load> {
  const times: number[] = [];
  const startMs = performance.now();
  async function caller(): Promise<void> {
    for (let atMs = performance.now(); atMs - startMs < durationMs; ) {
      await once();
      const nowMs = performance.now();
      times.push(nowMs - atMs);
      atMs = nowMs;
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return { times, seconds: (performance.now() - startMs) / 1_000 };
}

function joined(loads: readonly Load[]) {
  const times = loads.flatMap((each) => each.times).sort((a, b) => a - b);
  const seconds = loads.reduce((sum, each) => sum + each.seconds, 0);
  return { perSecond: times.length / seconds, at: (share: number) => times[Math.floor(times.length * share)] ?? 0 };
}

const rounded = (ms: number) => Math.round(ms * 10) / 10;
