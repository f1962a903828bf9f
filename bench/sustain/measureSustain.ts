import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import autocannon from "autocannon";
import { startProgram } from "../../scripts/process/startProgram.ts";
import { type LocalWorld, startWorld } from "../../scripts/world/startWorld.ts";
import { uuidFromToolId } from "../../settlement/domain/toolId.ts";
import type { Ledger } from "../../settlement/ledger/ledger.ts";
import { openLedger } from "../../settlement/ledger/openLedger.ts";
import { SERVICE_FLAGS } from "../serviceFlags.ts";
import type { Held, ServiceOptions } from "./service.ts";

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 3;
const MEASURED_SECONDS = 60;
const SAMPLE_MS = 500;
const PAYERS = 100;
const TOOLS = 20;
// Base: a block every 2 seconds, final after 450 of them. Here the chain's time runs twenty times as fast, so that what was
// settled in the first quarter of the minute becomes final in the last one, while all else goes on.
const FINALITY_BLOCKS = 450;
const BLOCK_SECONDS = 2;
const BLOCK_MS = 100;
const SERVICE_TOKEN = "service-token-of-the-benchmark-0123456789";

// Accruals over HTTP as fast as they are answered, and the daemon's own settlement beside it on one SQLite ledger, for a minute.
// Whoever is asked to come back later does so at once, which is the worst that a client can do.
export async function measureSustain() {
  const folder = mkdtempSync(join(tmpdir(), "bench-sustain-"));
  const path = join(folder, "ledger.db");
  const world = await startWorld({ tools: TOOLS, payers: PAYERS, finalityBlocks: FINALITY_BLOCKS });
  await world.rpc("evm_setAutomine", [false]);
  const blocks = produceBlocks(world);
  const service = await startService(world, path);
  const ledger = await openLedger(path);
  try {
    let turns = 0;
    const load = (duration: number) =>
      autocannon({
        url: service.url,
        connections: CONNECTIONS,
        duration,
        requests: [
          {
            method: "POST",
            path: "/v1/turns",
            headers: { authorization: `Bearer ${SERVICE_TOKEN}`, "content-type": "application/json" },
            setupRequest: (request) => ({ ...request, body: turnOf(world, turns++) }),
          },
        ],
      });
    await load(WARM_UP_SECONDS);
    const before = await settledBy(ledger);
    const watched = watchBacklog(ledger);
    const result = await load(MEASURED_SECONDS);
    const maxBacklog = await watched.stop();
    const after = await settledBy(ledger);
    const refused = result.statusCodeStats?.["429"]?.count ?? 0;
    if (result.errors > 0 || result.non2xx > refused) {
      throw new Error(`requests failed or were not understood: ${JSON.stringify(result.statusCodeStats)}`);
    }
    const settledPerSecond = (after.charges - before.charges) / result.duration;
    const { rssMb } = await service.held();
    return {
      acceptedPerSecond: Math.round(result["2xx"] / result.duration),
      settledPerSecond: Math.round(settledPerSecond),
      refusedPerSecond: Math.round(refused / result.duration),
      backlogSeconds: Math.round((10 * maxBacklog) / settledPerSecond) / 10,
      maxBacklog,
      finalBatches: after.finalBatches - before.finalBatches,
      p50Ms: result.latency.p50,
      p99Ms: result.latency.p99,
      rssMb,
      connections: CONNECTIONS,
      seconds: MEASURED_SECONDS,
      finalityBlocks: FINALITY_BLOCKS,
      chainSecondsPerSecond: (BLOCK_SECONDS * 1_000) / BLOCK_MS,
    };
  } finally {
    await ledger.close();
    await service.stop();
    await blocks.stop();
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const turnOf = ({ payers, tools }: LocalWorld, n: number) =>
  JSON.stringify({
    turnId: `turn-${n}`,
    payer: payers[n % payers.length]?.address,
    outcome: "delivered",
    modelCostUsd: "0",
    tools: [{ toolId: uuidFromToolId(tools[(n * 7) % tools.length]?.toolId ?? ""), amountUsd: "0.001", calls: 1 }],
  });

// Mined batches, and which of them are final.
async function settledBy(ledger: Ledger): Promise<{ charges: number; finalBatches: number }> {
  const batches = (await ledger.listBatches(10_000, 0)).filter(({ inclusion }) => inclusion !== null);
  return {
    charges: batches.reduce((sum, { charges }) => sum + charges, 0),
    finalBatches: batches.filter(({ state }) => state === "final").length,
  };
}

// The most that was ever due.
function watchBacklog(ledger: Ledger): { stop(): Promise<number> } {
  let most = 0;
  const ended = repeat(SAMPLE_MS, async () => {
    most = Math.max(most, (await ledger.readBacklog(Date.now())).due);
  });
  return {
    async stop() {
      await ended.stop();
      return most;
    },
  };
}

// As many as are due by now: a machine that is late makes several at once.
function produceBlocks(world: LocalWorld): { stop(): Promise<void> } {
  const startMs = performance.now();
  let produced = 0;
  return repeat(BLOCK_MS, async () => {
    const due = Math.floor((performance.now() - startMs) / BLOCK_MS) - produced;
    produced += due;
    if (due > 0)
      await world.rpc(
        "anvil_mine",
        [due, BLOCK_SECONDS].map((number) => `0x${number.toString(16)}`),
      );
  });
}

function repeat(everyMs: number, work: () => Promise<unknown>): { stop(): Promise<void> } {
  let stopped = false;
  const ended = (async () => {
    while (!stopped) {
      await work();
      await pause(everyMs);
    }
  })();
  return {
    stop() {
      stopped = true;
      return ended;
    },
  };
}

async function startService(world: LocalWorld, ledger: string) {
  const options: ServiceOptions = {
    operatorKey: world.operators[0]?.privateKey as ServiceOptions["operatorKey"],
    environment: {
      SETTLEMENT_CHAIN_ID: `${world.chainId}`,
      SETTLEMENT_RPC_URLS: world.url,
      SETTLEMENT_ROUTER: await world.router.getAddress(),
      SETTLEMENT_LEDGER: ledger,
      SETTLEMENT_SERVICE_TOKEN: SERVICE_TOKEN,
      SETTLEMENT_LISTEN: "127.0.0.1:0",
      SETTLEMENT_CONSOLE: "off",
      // A few payers make the load of many.
      SETTLEMENT_CREDIT_USD: "1000000",
    },
  };
  const service = startProgram(
    "node_modules/.bin/node",
    [...SERVICE_FLAGS, "bench/sustain/service.ts", JSON.stringify(options)],
    {
      // It logs every request, as in production, and whoever reads that would be measured as well.
      output: "ignore",
      messages: true,
    },
  );
  const ended = service.ended.then(({ code }) => Promise.reject(new Error(`the service ended with ${code}`)));
  ended.catch(() => undefined);
  const heard = async <T>() => ((await Promise.race([once(service.child, "message"), ended])) as [T])[0];
  return {
    url: await heard<string>(),
    held(): Promise<Held> {
      service.child.send("held");
      return heard<Held>();
    },
    stop: service.stop,
  };
}
