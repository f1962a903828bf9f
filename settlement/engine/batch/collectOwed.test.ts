import { describe, expect, it } from "vitest";
import type { Chain } from "../../chain/chain.ts";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import { type BudgetOnChain, hashTools, type KnownBudget } from "../../domain/payer/budget.ts";
import type { Exposure } from "../../domain/payer/payer.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ALICE, usdc } from "../../ledger/testing/fixtures.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import { createCollectOwed } from "./collectOwed.ts";

const NOW_S = 1_000n;

const budgetOf = (id: bigint, pending: number, validUntil = 2n * NOW_S): KnownBudget => ({
  payer: ALICE,
  id,
  maxSpend: usdc(100),
  validUntil,
  tools: [],
  signature: "0x01",
  held: usdc(0),
  pending: usdc(pending),
  taken: usdc(0),
  carried: usdc(0),
});
const ON_CHAIN: BudgetOnChain = {
  maxSpend: usdc(0),
  spent: usdc(0),
  validUntil: 0n,
  endsAt: 0n,
  toolsHash: hashTools([]),
};

type Case = { amount?: bigint; consentRequired?: boolean; budgets?: KnownBudget[]; onChain?: BudgetOnChain };

// Alice owes ten. Whether she is charged at once.
async function isCollected({ amount = 10n, consentRequired = false, budgets = [], onChain = ON_CHAIN }: Case) {
  const collected: unknown[] = [];
  const ledger = {
    listOwing: async () => [{ payer: ALICE, pending: usdc(10), owed: usdc(10) } as Exposure],
    listBudgetsDue: async () => budgets,
    collect: async (payers: unknown[]) => void collected.push(...payers),
  } as unknown as Ledger;
  const known = new Map(budgets.map(({ id }) => [id, onChain]));
  const spendable = { ...spendableOf(ALICE, amount, { budgets: known }), consentRequired, timestamp: NOW_S };
  const chain = { spendable: async () => [spendable] } as unknown as Chain;
  await createCollectOwed({ ledger, chain, clock: { nowMs: () => 1 }, policy: DEFAULT_POLICY })();
  return collected.length === 1;
}

describe("what is owed is collected at once", () => {
  it("from whoever can pay all of it", async () => {
    expect(await isCollected({})).toBe(true);
    expect(await isCollected({ amount: 9n })).toBe(false);
  });

  it("under a budget that has not ended", async () => {
    expect(await isCollected({ budgets: [budgetOf(7n, 10)] })).toBe(true);
    expect(await isCollected({ budgets: [budgetOf(7n, 5), budgetOf(8n, 5, NOW_S - 1n)] })).toBe(false);
    expect(await isCollected({ budgets: [budgetOf(7n, 10)], onChain: { ...ON_CHAIN, endsAt: NOW_S - 1n } })).toBe(
      false,
    );
  });

  it("from whoever demands consent if all of it is under budgets", async () => {
    expect(await isCollected({ consentRequired: true, budgets: [budgetOf(7n, 10)] })).toBe(true);
    expect(await isCollected({ consentRequired: true, budgets: [budgetOf(7n, 9)] })).toBe(false);
    expect(await isCollected({ consentRequired: true })).toBe(false);
  });
});
