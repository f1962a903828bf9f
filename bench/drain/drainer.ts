// The settlement service as a process of its own: accrues calls, settles them, and says how long each took and how much memory
// it held. Whoever plays the chain and the marketplace around it is in another process and not measured.
import { once } from "node:events";
import type { Address, Hex } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import { NO_HASH } from "../../settlement/domain/charges/charge.ts";
import { type MicroUsdc, microUsdc } from "../../settlement/domain/money.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import type { EngineEvent } from "../../settlement/engine/context.ts";
import type { Ledger } from "../../settlement/ledger/ledger.ts";
import { openEngine } from "../../settlement/openEngine.ts";
import { watchLoop } from "../watchLoop.ts";

export type DrainOptions = {
  chainId: number;
  rpcUrl: string;
  router: Address;
  operatorKey: Hex;
  ledger: string;
  fromBlock: number;
  calls: number;
  payers: readonly Address[];
  tools: readonly ToolId[];
};

export type Drained = {
  accrueSeconds: number;
  drainSeconds: number;
  batches: number;
  gasUsed: number;
  rssMb: number;
  // The longest that nothing else could run while it settled.
  blockedMs: number;
  // Of all its threads.
  accrueCpuSeconds: number;
  drainCpuSeconds: number;
};

const CALLS_PER_PAYER = 100;
const TOOLS_PER_PAYER = 5;
const CALL_PRICE: MicroUsdc = microUsdc(1_000n);
// As many callers as the benchmark of accruals has.
const CALLERS = 64;
const MAX_TICKS = 10_000;
const SAMPLE_MS = 50;

process.once("message", (options: DrainOptions) => {
  void drain(options).then((drained) => process.send?.(drained, () => process.disconnect()));
});
await once(process, "message");

async function drain({
  chainId,
  rpcUrl,
  router,
  operatorKey,
  ledger: path,
  ...options
}: DrainOptions): Promise<Drained> {
  let peakRss = 0;
  const sampling = setInterval(() => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  }, SAMPLE_MS);
  const events: EngineEvent[] = [];
  const clock: Clock = { nowMs: () => Date.now() };
  const { engine, ledger, close } = await openEngine({
    chainId,
    rpcUrls: [rpcUrl],
    router,
    keys: [{ kind: "plain", privateKey: operatorKey }],
    holder: "bench",
    ledger: path,
    fromBlock: BigInt(options.fromBlock),
    clock,
    policy: { payoutEveryMs: Number.MAX_SAFE_INTEGER },
    report: (event) => events.push(event),
  });
  try {
    const accrued = await timed(() => accrue(ledger, clock, options));
    const settled = await timed(() => settleUntilIncluded());
    const included = events.filter((event) => event.kind === "included");
    return {
      accrueSeconds: accrued.seconds,
      drainSeconds: settled.seconds,
      batches: included.length,
      gasUsed: Number(included.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)),
      rssMb: Math.round(peakRss / 2 ** 20),
      blockedMs: settled.blockedMs,
      accrueCpuSeconds: accrued.cpuSeconds,
      drainCpuSeconds: settled.cpuSeconds,
    };
  } finally {
    clearInterval(sampling);
    await close();
  }

  async function settleUntilIncluded(): Promise<void> {
    const count = (kind: EngineEvent["kind"]) => events.filter((event) => event.kind === kind).length;
    for (let tick = 0; tick < MAX_TICKS; tick++) {
      await engine.tick({ atOnce: true });
      const due = await ledger.listDuePayers(clock.nowMs(), 1);
      if (due.length === 0 && count("planned") === count("included")) return;
    }
    throw new Error(`not everything was settled within ${MAX_TICKS} ticks: ${JSON.stringify(events.at(-1))}`);
  }
}

// One charge per call, as Execute makes them, by callers who each wait until theirs is on disk.
async function accrue(
  ledger: Ledger,
  clock: Clock,
  { calls, payers, tools }: Omit<DrainOptions, "chainId" | "rpcUrl" | "router" | "operatorKey" | "ledger">,
) {
  let next = 0;
  const caller = async () => {
    while (next < calls) {
      const call = next++;
      const payer = Math.floor(call / CALLS_PER_PAYER) % payers.length;
      const tool = tools[(payer * 3 + (call % TOOLS_PER_PAYER) * 4) % tools.length] as ToolId;
      await ledger.recordTurn(
        {
          id: `turn-${call}`,
          payer: payers[payer] as Address,
          outcome: "delivered",
          modelCost: microUsdc(0n),
          tools: [{ toolId: tool, amount: CALL_PRICE, calls: 1 }],
          requestHash: NO_HASH,
          responseHash: NO_HASH,
        },
        clock.nowMs(),
      );
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

async function timed(work: () => Promise<void>): Promise<{ seconds: number; cpuSeconds: number; blockedMs: number }> {
  const watch = watchLoop();
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpuBefore);
  const seconds = (performance.now() - startedAt) / 1_000;
  return { seconds, cpuSeconds: Math.round((user + system) / 1e3) / 1e3, blockedMs: watch.stop() };
}
