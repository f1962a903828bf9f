import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "viem";
import { NO_HASH } from "../settlement/domain/charge.ts";
import { microUsdc } from "../settlement/domain/money.ts";
import { type LocalChain, startLocalChain } from "../test/local/localChain.ts";
import { openTestEngine, type TestEngine } from "../test/local/testEngine.ts";

const TOOLS = 20;
const TOOLS_PER_PAYER = 5;
const CALLS_PER_PAYER = 100;
const CALL_PRICE = microUsdc(1_000n);
const SMALL: Size = { payers: 100, calls: 10_000, runs: 1 };
const LARGE: Size = { payers: 1_000, calls: 100_000, runs: 1 };
// Small backlogs are quickly settled and quickly disturbed, so the median of several runs counts.
const BACKLOGS: readonly Size[] = [
  { payers: 10, calls: 1_000, runs: 3 },
  { payers: 30, calls: 3_000, runs: 3 },
  { payers: 100, calls: 10_000, runs: 3 },
  { payers: 300, calls: 30_000, runs: 1 },
  LARGE,
];
const ACCRUALS_AT_A_TIME = 1_000;
const MAX_ROUNDS = 1_000;
const SAMPLE_MS = 50;

type Size = { payers: number; calls: number; runs: number };

type Drain = {
  payers: number;
  calls: number;
  seconds: number;
  callsPerSecond: number;
  batches: number;
  gasPerCall: number;
};

// How long settlement takes from accrued calls to `included`, on a real anvil with the real USDC and an SQLite ledger, at
// two sizes: netting, hashing receipts, signing and confirming, everything but the calls themselves.
export async function drain() {
  const { drains, rssMb } = await drainEach([SMALL, LARGE]);
  const [small, large] = drains;
  if (small === undefined || large === undefined) throw new RangeError("a size was not measured");
  return {
    callsPerSecond: large.callsPerSecond,
    batches: large.batches,
    gasPerCall: large.gasPerCall,
    rssMb,
    timePerCallRatio: round(large.seconds / large.calls / (small.seconds / small.calls)),
    gasPerCallRatio: round(large.gasPerCall / small.gasPerCall),
    sizes: [small, large],
  };
}

// How the rate changes with the size of the backlog.
export const drainByBacklog = () => drainEach(BACKLOGS);

async function drainEach(sizes: readonly Size[]): Promise<{ drains: Drain[]; rssMb: number }> {
  const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
  const chain = await startLocalChain({ tools: TOOLS, payers: Math.max(...sizes.map(({ payers }) => payers)) });
  let peakRss = 0;
  const sampling = setInterval(() => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  }, SAMPLE_MS);
  try {
    // The first batch of a tool writes its credit for the first time, which is dearer. Nobody measures that one.
    await drainOnce(chain, join(folder, "first.db"), { payers: TOOLS, calls: TOOLS * CALLS_PER_PAYER });
    const drains: Drain[] = [];
    for (const { payers, calls, runs } of sizes) {
      const measured: Drain[] = [];
      for (let run = 0; run < runs; run++) {
        measured.push(await drainOnce(chain, join(folder, `${calls}-${run}.db`), { payers, calls }));
      }
      const median = measured.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(runs / 2)];
      if (median) drains.push(median);
    }
    return { drains, rssMb: Math.round(peakRss / 2 ** 20) };
  } finally {
    clearInterval(sampling);
    await chain.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function drainOnce(chain: LocalChain, path: string, size: { payers: number; calls: number }): Promise<Drain> {
  const settlement = await openTestEngine(chain, { ledger: path });
  try {
    console.error(`accruing ${size.calls} calls of ${size.payers} payers …`);
    await accrue(chain, settlement, size, path);
    console.error("settling …");
    const startedAt = performance.now();
    await settleUntilIncluded(settlement, size.calls);
    const seconds = (performance.now() - startedAt) / 1_000;
    const included = settlement.events.filter((event) => event.kind === "included");
    const gas = included.reduce((sum, { gasUsed }) => sum + gasUsed, 0n);
    return {
      ...size,
      seconds: round(seconds),
      callsPerSecond: Math.round(size.calls / seconds),
      batches: included.length,
      gasPerCall: round(Number(gas) / size.calls),
    };
  } finally {
    await settlement.close();
  }
}

// One charge per call, as Execute makes them.
async function accrue(chain: LocalChain, { ledger, clock }: TestEngine, { calls }: { calls: number }, name: string) {
  for (let first = 0; first < calls; first += ACCRUALS_AT_A_TIME) {
    const some = Array.from({ length: Math.min(ACCRUALS_AT_A_TIME, calls - first) }, (_, i) => {
      const call = first + i;
      const payer = Math.floor(call / CALLS_PER_PAYER);
      const tool = chain.tools[(payer * 3 + (call % TOOLS_PER_PAYER) * 4) % TOOLS];
      if (!tool) throw new RangeError("no such tool");
      return ledger.recordTurn(
        {
          id: `${name}-${call}`,
          payer: chain.payers[payer]?.address as Address,
          outcome: "delivered",
          modelCost: microUsdc(0n),
          tools: [{ toolId: tool.toolId, amount: CALL_PRICE, calls: 1 }],
          requestHash: NO_HASH,
          responseHash: NO_HASH,
        },
        clock.nowMs(),
      );
    });
    await Promise.all(some);
  }
}

async function settleUntilIncluded({ engine, ledger, events, clock }: TestEngine, calls: number): Promise<void> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    await engine.tick();
    clock.advance(1);
    const planned = events.filter((event) => event.kind === "planned").length;
    const included = events.filter((event) => event.kind === "included").length;
    if (planned === included && (await ledger.duePayers(clock.nowMs(), 1)).length === 0) return;
  }
  throw new Error(`${calls} calls were not settled within ${MAX_ROUNDS} rounds: ${JSON.stringify(events.at(-1))}`);
}

const round = (value: number) => Math.round(value * 1_000) / 1_000;
