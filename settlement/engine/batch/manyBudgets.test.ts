import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Chain } from "../../chain/chain.ts";
import { decodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import { type BudgetKey, hashTools } from "../../domain/payer/budget.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgers, type Store } from "../../ledger/testing/backends.ts";
import { ALICE, accountOf, BOB, INSURANCE, leaseOf, ROUTER, turnOf, usdc } from "../../ledger/testing/fixtures.ts";
import type { EngineContext } from "../context.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import { plan } from "./plan.ts";

const MAX_CHARGES = 20;
// What one tick sends.
const BATCHES = DEFAULT_POLICY.maxInFlight;
const NEW = { maxSpend: usdc(0), spent: usdc(0), validUntil: 0n, endsAt: 0n, toolsHash: hashTools([]) };

describe.each(ledgers)("a payer with charges under many budgets, on $name,", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeAll(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterAll(async () => {
    expect(await ledger.audit()).toEqual([]);
    await store.remove();
  });

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

  const nowMs = 1_000_000;
  const context = () =>
    ({
      ledger,
      chain,
      clock: { nowMs: () => nowMs },
      policy: { ...DEFAULT_POLICY, bounds: { ...DEFAULT_POLICY.bounds, maxCharges: MAX_CHARGES } },
      random: () => 0,
      report: () => {},
      reached: () => {},
    }) as unknown as EngineContext;

  async function accrue(payer: Address, name: string, atMs: number, budgetId: bigint | null = null): Promise<void> {
    const [tools, signature] = [[] as never[], "0x01" as const];
    if (budgetId !== null) {
      await ledger.keepBudget({ payer, id: budgetId, maxSpend: usdc(100), validUntil: 2n ** 39n, tools, signature }, 0);
    }
    const turn = turnOf(`${payer} ${name}`, { payer, budgetId, modelCost: usdc(1), tools });
    const onChain = budgetId === null ? null : NEW;
    expect(await ledger.recordTurn(turn, atMs, null, onChain)).toMatchObject({ kind: "recorded" });
  }

  // Who is charged in each batch, and how many charges are in it.
  async function planSome(batches: number) {
    const lease = await leaseOf(ledger);
    const made: { payers: Address[]; charges: number }[] = [];
    for (let i = 0; i < batches; i++) {
      const planned = await plan(context(), lease, 500, false);
      if (planned.kind !== "planned") break;
      const payers = decodeSettle(planned.submission.calldata).rows.map(({ payer }) => payer);
      made.push({ payers, charges: (await ledger.findBatch(planned.submission.id))?.charges ?? 0 });
    }
    return made;
  }

  it("keeps nobody else waiting for longer than one with as many under one budget", async () => {
    // A batch and a half.
    for (let id = 1n; id <= 30n; id++) await accrue(ALICE, `${id}`, 1, id);
    await accrue(BOB, "once", 2);
    const made = await planSome(BATCHES);
    expect(made).toHaveLength(BATCHES);
    expect(made[0]?.payers.toSorted()).toEqual([ALICE, BOB].toSorted());
  });

  it("takes no more of a batch than what is in it", async () => {
    const others = Array.from({ length: MAX_CHARGES - 1 }, (_, i) => accountOf(0x5000 + i));
    // Alice still has most of a batch, and waits for longest.
    for (const payer of others) await accrue(payer, "once", 3);
    const [first] = await planSome(1);
    expect(first?.charges).toBe(MAX_CHARGES);
    expect(first?.payers).toHaveLength(MAX_CHARGES);
  });

  it("has all under one budget in one row, and those under none in another", async () => {
    const payer = accountOf(0xca401);
    for (let i = 0; i < 3; i++) {
      await accrue(payer, `under one ${i}`, 10 + 2 * i, 1n);
      await accrue(payer, `under none ${i}`, 11 + 2 * i);
    }
    const budget = await ledger.findBudget({ payer, id: 1n });
    const [one, other] = [await rowOf(payer), await rowOf(payer)];
    expect([one?.budget?.id, one?.modelCost]).toEqual([budget?.id, 3n]);
    expect([other?.budget, other?.modelCost]).toEqual([undefined, 3n]);
  });

  async function rowOf(account: Address) {
    for (let i = 0; i < 50; i++) {
      const planned = await plan(context(), await leaseOf(ledger), 500, false);
      if (planned.kind !== "planned") break;
      const row = decodeSettle(planned.submission.calldata).rows.find(({ payer }) => payer === account);
      if (row !== undefined) return row;
    }
    return undefined;
  }
});
