import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Chain } from "../../chain/chain.ts";
import { decodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import { type BudgetKey, hashTools } from "../../domain/budget.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { backends, type Store } from "../../ledger/testing/backends.ts";
import { ALICE, BOB, INSURANCE, leaseOf, ROUTER, turnOf, usdc } from "../../ledger/testing/fixtures.ts";
import type { EngineContext } from "../context.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import { plan } from "./plan.ts";

const MAX_CHARGES = 20;
// What one tick sends.
const BATCHES = DEFAULT_POLICY.maxInFlight;
const NEW = { maxSpend: usdc(0), spent: usdc(0), validUntil: 0n, endsAt: 0n, toolsHash: hashTools([]) };

describe.each(backends)("a payer with charges under many budgets, on $name,", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeAll(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterAll(() => store.remove());

  const chain = {
    chainId: 1,
    router: ROUTER,
    insurance: INSURANCE,
    spendable: async (payers: readonly Address[], budgets: readonly BudgetKey[] = []) =>
      payers.map((payer) =>
        spendableOf(payer, 10n ** 9n, {
          budgets: new Map(budgets.filter((budget) => budget.payer === payer).map(({ id }) => [id, NEW])),
        }),
      ),
    refunds: async () => [],
    availability: async () => ({ kind: "available" }),
    operatorLimit: async () => ({ limit: 10n ** 12n, left: 10n ** 12n, bonded: true }),
    headOf: async () => NO_BATCH,
    listings: async () => [],
  } as unknown as Chain;

  // Not yet so: how many there can be is bounded where calls are accepted.
  it.fails("keeps nobody else waiting for longer than one with as many under one budget", async () => {
    const nowMs = 1_000_000;
    const context = {
      ledger,
      chain,
      clock: { nowMs: () => nowMs },
      policy: { ...DEFAULT_POLICY, bounds: { ...DEFAULT_POLICY.bounds, maxCharges: MAX_CHARGES } },
      random: () => 0,
      report: () => {},
      reached: () => {},
    } as unknown as EngineContext;
    const tools: never[] = [];
    // A batch and a half.
    for (let id = 1n; id <= 30n; id++) {
      const signature = "0x01" as const;
      await ledger.keepBudget({ payer: ALICE, id, maxSpend: usdc(1), validUntil: 2n ** 39n, tools, signature }, 0);
      const turn = turnOf(`of alice ${id}`, { payer: ALICE, budgetId: id, modelCost: usdc(1), tools });
      expect(await ledger.recordTurn(turn, 1, null, NEW)).toMatchObject({ kind: "recorded" });
    }
    await ledger.recordTurn(turnOf("of bob", { payer: BOB, modelCost: usdc(1), tools }), 2);
    const lease = await leaseOf(ledger);
    const charged: Address[][] = [];
    for (let i = 0; i < BATCHES; i++) {
      const planned = await plan(context, lease, 500, false);
      if (planned.kind !== "planned") break;
      charged.push(decodeSettle(planned.submission.calldata).rows.map(({ payer }) => payer));
    }
    expect(charged).toHaveLength(BATCHES);
    expect(charged.flat()).toContain(BOB);
  });
});
