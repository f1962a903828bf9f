import { Wallet } from "ethers";
import type { Address } from "viem";
import type { Clock } from "../../settlement/clock.ts";
import type { EngineEvent, Policy } from "../../settlement/engine/context.ts";
import { type OpenEngineOptions, openEngine } from "../../settlement/openEngine.ts";
import type { Account, LocalChain } from "./localChain.ts";

export type TestEngine = Awaited<ReturnType<typeof openTestEngine>>;

// Production's rules with a clock that a test moves, so that nothing waits for real minutes.
export const TEST_POLICY: Partial<Policy> = { payoutEveryMs: Number.MAX_SAFE_INTEGER };

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

const MAX_ROUNDS = 200;

// The engine as production puts it together, on a local chain, with its rounds driven by hand.
export async function openTestEngine(
  chain: LocalChain,
  options: { ledger: string; policy?: Partial<Policy> } & Partial<OpenEngineOptions>,
) {
  const clock = createMovableClock();
  const events: EngineEvent[] = [];
  const opened = await openEngine({
    chainId: chain.chainId,
    rpcUrls: [chain.url],
    router: (await chain.router.getAddress()) as Address,
    keys: chain.operators.map(({ privateKey }) => ({ kind: "plain", privateKey })),
    holder: "test",
    clock,
    random: () => 0.5,
    report: (event) => events.push(event),
    ...options,
    policy: { ...TEST_POLICY, ...options.policy },
  });

  // Rounds of settlement with blocks and minutes in between, until nothing is pending.
  async function settleAll(): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      await opened.engine.tick();
      await chain.rpc("anvil_mine", ["0x3"]);
      const { pending } = await opened.ledger.totals();
      if (pending === 0n) return;
      clock.advance(60_000);
    }
    const { pending } = await opened.ledger.totals();
    throw new Error(
      `${pending} micro-USDC are still pending after ${MAX_ROUNDS} rounds: ${JSON.stringify(events.at(-1))}`,
    );
  }

  return {
    ...opened,
    clock,
    events,
    settleAll,
    // What pre-flight read a second ago is read anew.
    untilCacheIsOld: async () => clock.advance(2_000),
    walletOf: (account: Account | undefined) => new Wallet(account?.privateKey ?? "", chain.provider),
  };
}
