import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import autocannon from "autocannon";
import { startProgram } from "../../scripts/process/startProgram.ts";
import { startWorld } from "../../scripts/world/startWorld.ts";
import { SERVICE_FLAGS } from "../serviceFlags.ts";
import type { ServerOptions } from "./server.ts";

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;
const MEASURED_SECONDS = 5;
const SERVICE_TOKEN = "service-token-of-the-benchmark-0123456789";

// Accruals over HTTP, each on disk before it is answered, beside a route of the same server that asks for the same
// token, checks the same body and does nothing. The server is a process of its own, as in production; its settlement loop does not run.
export async function measureHttp() {
  const folder = mkdtempSync(join(tmpdir(), "bench-http-"));
  const world = await startWorld({ tools: 1, payers: 1 });
  const options: ServerOptions = {
    chainId: world.chainId,
    rpcUrl: world.url,
    router: (await world.router.getAddress()) as ServerOptions["router"],
    ledger: join(folder, "ledger.db"),
    serviceToken: SERVICE_TOKEN,
  };
  const server = await startServer(options);
  try {
    const payer = world.payers[0]?.address ?? "";
    let turns = 0;
    const load = async (path: string, duration: number) => {
      const result = await autocannon({
        url: server.url,
        connections: CONNECTIONS,
        duration,
        requests: [
          {
            method: "POST",
            path,
            headers: { authorization: `Bearer ${SERVICE_TOKEN}`, "content-type": "application/json" },
            // Every request reports a turn of its own.
            setupRequest: (request) => ({ ...request, body: turnOf(payer, turns++) }),
          },
        ],
      });
      if (result.non2xx > 0 || result.errors > 0) {
        throw new Error(`${path} answered ${result.non2xx} requests with another status and failed ${result.errors}`);
      }
      return result;
    };
    await load("/v1/empty", WARM_UP_SECONDS);
    await load("/v1/turns", WARM_UP_SECONDS);
    // Each side twice and in turns, so that a disturbance does not hit one side only.
    const empty = [await load("/v1/empty", MEASURED_SECONDS)];
    const accruals = [await load("/v1/turns", MEASURED_SECONDS)];
    empty.push(await load("/v1/empty", MEASURED_SECONDS));
    accruals.push(await load("/v1/turns", MEASURED_SECONDS));
    const accrualsPerSecond = perSecond(accruals);
    const emptyRoutePerSecond = perSecond(empty);
    return {
      accrualsPerSecond: Math.round(accrualsPerSecond),
      emptyRoutePerSecond: Math.round(emptyRoutePerSecond),
      ratio: Math.round((accrualsPerSecond / emptyRoutePerSecond) * 100) / 100,
      p99Ms: Math.max(...accruals.map(({ latency }) => latency.p99)),
      connections: CONNECTIONS,
    };
  } finally {
    await server.stop();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const perSecond = (results: readonly autocannon.Result[]) =>
  results.reduce((sum, result) => sum + result["2xx"] / result.duration, 0) / results.length;

const turnOf = (payer: string, n: number) =>
  JSON.stringify({
    turnId: `turn-${n}`,
    payer,
    outcome: "delivered",
    modelCostUsd: "0.02",
    tools: [{ toolId: "0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b", amountUsd: "0.08", calls: 2 }],
  });

async function startServer(options: ServerOptions): Promise<{ url: string; stop(): Promise<unknown> }> {
  const server = startProgram(
    "node_modules/.bin/node",
    [...SERVICE_FLAGS, "bench/http/server.ts", JSON.stringify(options)],
    {
      // It logs every request, as in production, and whoever reads that would be measured as well.
      output: "ignore",
      messages: true,
    },
  );
  const listening = once(server.child, "message").then(([url]) => String(url));
  const ended = server.ended.then(({ code }) => Promise.reject(new Error(`the server ended with ${code}`)));
  return { url: await Promise.race([listening, ended]), stop: server.stop };
}
