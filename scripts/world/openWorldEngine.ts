import type { Address } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import type { EngineEvent, Policy } from "../../settlement/engine/context.ts";
import { type OpenEngineOptions, openEngine } from "../../settlement/openEngine.ts";
import type { LocalWorld } from "./startWorld.ts";

export type WorldEngine = Awaited<ReturnType<typeof openWorldEngine>>;

// Production's rules with a clock that a test moves, so that nothing waits for real minutes. A tick settles what is due.
export const TEST_POLICY: Partial<Policy> = {
  payoutEveryMs: Number.MAX_SAFE_INTEGER,
  batch: { minCharges: 1, maxWaitMs: 0 },
};

export type MovableClock = Clock & { advance(ms: number): void };

export function createMovableClock(startMs = Date.now()): MovableClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

const MAX_TICKS = 200;

// The engine as production puts it together, on a local chain, with its ticks driven by hand.
export async function openWorldEngine(
  world: LocalWorld,
  options: { ledger: string; policy?: Partial<Policy> } & Partial<OpenEngineOptions>,
) {
  const clock = createMovableClock();
  const events: EngineEvent[] = [];
  const opened = await openEngine({
    chainId: world.chainId,
    rpcUrls: [world.url],
    router: (await world.router.getAddress()) as Address,
    keys: world.operators.map(({ privateKey }) => ({ kind: "plain", privateKey })),
    holder: "test",
    clock,
    random: () => 0.5,
    report: (event) => events.push(event),
    ...options,
    policy: { ...TEST_POLICY, ...options.policy },
  });

  // Ticks of settlement with blocks and minutes in between, until nothing is pending.
  async function settleAll(): Promise<void> {
    for (let tick = 0; tick < MAX_TICKS; tick++) {
      await opened.engine.tick();
      await world.rpc("anvil_mine", ["0x3"]);
      const { pending } = await opened.ledger.readTotals();
      if (pending === 0n) return;
      clock.advance(60_000);
    }
    const { pending } = await opened.ledger.readTotals();
    throw new Error(
      `${pending} micro-USDC are still pending after ${MAX_TICKS} ticks: ${JSON.stringify(events.at(-1))}`,
    );
  }

  return {
    ...opened,
    clock,
    events,
    settleAll,
    // What pre-flight read a second ago is read again.
    untilCacheIsOld: async () => clock.advance(2_000),
  };
}
