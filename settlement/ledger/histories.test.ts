import fc from "fast-check";
import type { Address, Hex } from "viem";
import { describe, expect, it } from "vitest";
import type { ChargeFailure } from "../domain/batch/batch.ts";
import type { Lease, Ledger } from "./ledger.ts";
import { ledgers } from "./testing/backends.ts";
import {
  accountOf,
  HASHES,
  hashOf,
  INSURANCE,
  inclusionAt,
  leaseOf,
  netOf,
  OPERATOR,
  outcomeOf,
  POLICY,
  RETRY,
  RICH,
  ROUTER,
  toolOf,
  turnOf,
  usdc,
} from "./testing/fixtures.ts";

// Anything that may happen to a ledger, in any order, with few enough names that events meet.
type Event =
  | { kind: "turn"; id: number; payer: number; tool: number; amount: number; failed: boolean }
  | { kind: "open"; session: number; payer: number }
  | { kind: "hold"; call: number; session: number; tool: number; amount: number }
  | { kind: "capture" | "void"; call: number }
  | { kind: "close"; session: number }
  | { kind: "sweep" | "plan" | "unplan" | "submit" | "include" | "revert" | "lose" | "finalize" | "abandon" }
  | { kind: "clear"; payer: number };

const small = fc.integer({ min: 1, max: 3 });
const price = fc.integer({ min: 0, max: 40 });
const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    kind: fc.constant("turn" as const),
    id: fc.integer({ min: 1, max: 30 }),
    payer: small,
    tool: small,
    amount: price,
    failed: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("open" as const), session: small, payer: small }),
  fc.record({
    kind: fc.constant("hold" as const),
    call: fc.integer({ min: 1, max: 15 }),
    session: small,
    tool: small,
    amount: price,
  }),
  fc.record({ kind: fc.constantFrom("capture" as const, "void" as const), call: fc.integer({ min: 1, max: 15 }) }),
  fc.record({ kind: fc.constant("close" as const), session: small }),
  fc.record({ kind: fc.constant("clear" as const), payer: small }),
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(["sweep", "plan", "plan", "unplan", "submit", "submit", "include", "include"] as const),
        ...(["revert", "lose", "finalize", "finalize", "abandon"] as const),
      ),
    }),
  },
);

const accounts: Address[] = [INSURANCE, ...[1, 2, 3].map(accountOf)];
// Which rows fail and which lines are refused is part of the history: it follows from the time.
const failedAt = (n: number, account: Address): ChargeFailure | null =>
  (n + Number(BigInt(account) % 7n)) % 3 === 0 ? "balance" : null;
const outcomeAt = (n: number) =>
  outcomeOf({
    failed: accounts.flatMap((chargedTo) => {
      const reason = failedAt(n, chargedTo);
      return reason === null ? [] : [{ chargedTo, amount: usdc(0), reason }];
    }),
    refused:
      n % 4 === 0
        ? accounts.map((chargedTo) => ({ chargedTo, toolId: toolOf(1), amount: usdc(0), reason: "unlisted" as const }))
        : [],
  });

async function happen(ledger: Ledger, lease: Lease, event: Event, n: number): Promise<unknown> {
  const nowMs = n * 1_000;
  const retry = { ...RETRY, maxAttempts: 2 };
  const ofState = async (...kinds: string[]): Promise<Hex | null> =>
    (await ledger.listOpenSubmissions(OPERATOR, 1_000)).find(
      ({ kind, state }) => kind === "settle" && kinds.includes(state),
    )?.id ?? null;
  switch (event.kind) {
    case "turn":
      return ledger.recordTurn(
        turnOf(`${event.id}`, {
          payer: accountOf(event.payer),
          modelCost: usdc(event.amount),
          tools: [{ toolId: toolOf(event.tool), amount: usdc(event.amount * 2), calls: 1 }],
          outcome: event.failed ? "failed" : "delivered",
        }),
        nowMs,
      );
    case "open":
      return ledger.openSession(
        { id: `${event.session}`, payer: accountOf(event.payer), maxSpend: usdc(100), expiresAtMs: nowMs + 20_000 },
        nowMs,
      );
    case "hold":
      return ledger.hold(
        {
          callId: `${event.call}`,
          sessionId: `${event.session}`,
          toolId: toolOf(event.tool),
          method: "m",
          amount: usdc(event.amount),
        },
        RICH,
        nowMs,
      );
    case "capture":
      return ledger.capture(
        { callId: `${event.call}`, hashes: HASHES },
        { ...POLICY, maxCount: 3, maxAgeMs: 8_000 },
        nowMs,
      );
    case "void":
      return ledger.void(`${event.call}`);
    case "close":
      return ledger.closeSession(`${event.session}`, nowMs);
    case "sweep":
      return ledger.sweepSessions({ ...POLICY, maxAgeMs: 8_000 }, 15_000, nowMs, 2);
    case "clear":
      return ledger.clearDebt(accountOf(event.payer));
    case "plan": {
      const net = netOf(({ chargedTo }) => (n % 5 === 0 ? failedAt(n, chargedTo) : null));
      return ledger.planBatch(lease, { accounts, maxCharges: 6, router: ROUTER, net, retry }, nowMs);
    }
    case "unplan": {
      const id = await ofState("planned");
      return id && ledger.unplanBatch(lease, id, [accountOf(1)], 5_000, nowMs);
    }
    case "submit": {
      const id = await ofState("planned");
      if (id === null) return null;
      await ledger.assignNonce(lease, id, 0, 1n);
      const bytes = { txHash: hashOf(`${n}`), raw: "0x", maxFeePerGas: 1n, maxPriorityFeePerGas: 1n } as const;
      return ledger.saveBroadcast(lease, id, { ...bytes, signedAtMs: nowMs });
    }
    case "include": {
      const id = await ofState("submitted", "reverted", "included");
      return id && ledger.recordInclusion(lease, id, inclusionAt(BigInt(n)), "success", outcomeAt(n));
    }
    case "revert": {
      const id = await ofState("submitted", "included");
      return id && ledger.recordInclusion(lease, id, inclusionAt(BigInt(n)), "reverted", null);
    }
    case "lose": {
      const id = await ofState("included", "reverted");
      return id && ledger.recordLoss(lease, id);
    }
    case "finalize": {
      const id = await ofState("included");
      return id && ledger.finalize(lease, id, outcomeAt(n), retry, nowMs);
    }
    case "abandon": {
      const id = await ofState("submitted", "reverted");
      return id && ledger.abandon(lease, id, nowMs);
    }
  }
}

// Every answer and everything that can be seen in the end.
async function live(create: (typeof ledgers)[number]["create"], history: readonly Event[]): Promise<unknown[]> {
  const store = await create();
  try {
    const ledger = await store.open();
    const lease = await leaseOf(ledger);
    const seen: unknown[] = [];
    for (const [n, event] of history.entries()) {
      seen.push(await happen(ledger, lease, event, n + 1));
      expect(await ledger.audit()).toEqual([]);
      const { accrued, pending, settled, absorbed, refused, voided } = await ledger.readTotals();
      expect(pending + settled + absorbed + refused + voided).toBe(accrued);
    }
    seen.push(await ledger.readTotals(), await ledger.readExposures(accounts), await ledger.listBatches(100, 0));
    seen.push(
      await ledger.readSettledByAccount(),
      await ledger.readSettledByTool(),
      await ledger.listUnmined(OPERATOR),
      await ledger.listOpenSubmissions(OPERATOR, 1_000),
    );
    return seen;
  } finally {
    await store.remove();
  }
}

describe("any history", () => {
  it("leaves counters that equal their sums after every event, and both backends see the same", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 40, maxLength: 120, size: "max" }), async (history) => {
        const [first, ...others] = await Promise.all(ledgers.map(({ create }) => live(create, history)));
        for (const other of others) expect(other).toEqual(first);
      }),
      { seed: 20_260_101, numRuns: 12, interruptAfterTimeLimit: 90_000 },
    );
  });
});
