import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { startProgram } from "../../scripts/process/startProgram.ts";
import { type LocalWorld, startWorld } from "../../scripts/world/startWorld.ts";
import { SERVICE_FLAGS } from "../serviceFlags.ts";
import type { Drained, DrainOptions } from "./drainer.ts";

const TOOLS = 20;
const CALLS_PER_PAYER = 100;
const MAX_PAYERS = 1_000;
const SMALL: Size = { calls: 10_000, runs: 3 };
const LARGE: Size = { calls: 100_000, runs: 3 };
const HUGE: Size = { calls: 1_000_000, runs: 1 };

type Size = { calls: number; runs: number };

export type Drain = {
  payers: number;
  calls: number;
  seconds: number;
  callsPerSecond: number;
  accruePerSecond: number;
  batches: number;
  gasPerCall: number;
  rssMb: number;
  blockedMs: number;
  accrueCpuSeconds: number;
  drainCpuSeconds: number;
};

// How long settlement takes from accrued calls to `included`, on a real anvil with the real USDC and an SQLite ledger:
// netting, hashing receipts, signing and confirming, everything but the calls themselves. Beside it how long the same process
// took to accrue them, one by one and durably. With `large` a million calls are drained as well, to see whether time per call
// grows with the backlog.
export async function measureDrain({ large }: { large: boolean }) {
  const drains = await drainEach(large ? [SMALL, LARGE, HUGE] : [SMALL, LARGE]);
  const [small, middle, huge] = drains;
  if (small === undefined || middle === undefined) throw new RangeError("a size was not measured");
  const timePerCall = ({ callsPerSecond }: Drain) => 1 / callsPerSecond;
  return {
    callsPerSecond: middle.callsPerSecond,
    accruePerSecond: middle.accruePerSecond,
    ratioToAccrual: round(middle.callsPerSecond / middle.accruePerSecond),
    // What does not depend on who else uses the processor and the disk.
    cpuRatioToAccrual: round(middle.accrueCpuSeconds / middle.drainCpuSeconds),
    blockedMs: middle.blockedMs,
    batches: middle.batches,
    gasPerCall: middle.gasPerCall,
    rssMb: middle.rssMb,
    timePerCallRatio: round(timePerCall(middle) / timePerCall(small)),
    ...(huge === undefined ? {} : { flatness: round(timePerCall(huge) / timePerCall(small)) }),
    gasPerCallRatio: round(middle.gasPerCall / small.gasPerCall),
    sizes: drains,
  };
}

async function drainEach(sizes: readonly Size[]): Promise<Drain[]> {
  const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
  const payers = Math.max(...sizes.map(({ calls }) => payersOf(calls)));
  // A key belongs to one ledger, and every drain has a ledger of its own.
  const drains = 1 + sizes.reduce((sum, { runs }) => sum + runs, 0);
  const world = await startWorld({ tools: TOOLS, payers, operators: drains });
  const keys = world.operators.map(({ privateKey }) => privateKey as Hex).values();
  try {
    // The first batch of a tool writes its credit for the first time, which costs more. Nobody measures that one.
    await drainOnce(world, keys.next().value, join(folder, "first.db"), TOOLS * CALLS_PER_PAYER);
    const medians: Drain[] = [];
    for (const { calls, runs } of sizes) {
      const measured: Drain[] = [];
      for (let run = 0; run < runs; run++) {
        measured.push(await drainOnce(world, keys.next().value, join(folder, `${calls}-${run}.db`), calls));
      }
      const median = measured.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(runs / 2)];
      if (median) medians.push(median);
    }
    return medians;
  } finally {
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function drainOnce(world: LocalWorld, key: Hex | undefined, path: string, calls: number): Promise<Drain> {
  const payers = payersOf(calls);
  console.error(`accruing and settling ${calls} calls of ${payers} payers …`);
  if (key === undefined) throw new RangeError("the world has too few operators");
  const { accrueSeconds, drainSeconds, gasUsed, ...others } = await runDrainer({
    chainId: world.chainId,
    rpcUrl: world.url,
    router: (await world.router.getAddress()) as DrainOptions["router"],
    operatorKey: key,
    ledger: path,
    // A new ledger, which knows nothing of the batches that the key has settled for the others.
    fromBlock: (await world.provider.getBlockNumber()) + 1,
    calls,
    payers: world.payers.slice(0, payers).map(({ address }) => address as DrainOptions["payers"][number]),
    tools: world.tools.map(({ toolId }) => toolId),
  });
  return {
    payers,
    calls,
    seconds: round(drainSeconds),
    callsPerSecond: Math.round(calls / drainSeconds),
    accruePerSecond: Math.round(calls / accrueSeconds),
    gasPerCall: round(gasUsed / calls),
    ...others,
  };
}

async function runDrainer(options: DrainOptions): Promise<Drained> {
  const drainer = startProgram("node_modules/.bin/node", [...SERVICE_FLAGS, "bench/drain/drainer.ts"], {
    messages: true,
  });
  const ended = drainer.ended.then(({ code, stdout, stderr }) =>
    Promise.reject(new Error(`the process that drains ended with ${code}: ${stdout}${stderr}`)),
  );
  ended.catch(() => undefined);
  drainer.child.send(options);
  const [drained] = (await Promise.race([once(drainer.child, "message"), ended])) as [Drained];
  await drainer.ended;
  return drained;
}

const payersOf = (calls: number) => Math.min(MAX_PAYERS, calls / CALLS_PER_PAYER);
const round = (value: number) => Math.round(value * 1_000) / 1_000;
