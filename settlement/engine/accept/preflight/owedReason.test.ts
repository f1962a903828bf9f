import { expect, it } from "vitest";
import { spendableOf } from "../../../chain/testing/spendableOf.ts";
import { hashTools, type KnownBudget } from "../../../domain/payer/budget.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { ALICE, usdc } from "../../../ledger/testing/fixtures.ts";
import { owedReason } from "./owedReason.ts";

const NOW_S = 1_000n;

// Alice owes what was delivered under budget 7.
function ask(validUntil: bigint, endsAt: bigint): Promise<string> {
  const budget = { payer: ALICE, id: 7n, maxSpend: usdc(10), validUntil, tools: [] } as unknown as KnownBudget;
  const onChain = { maxSpend: usdc(0), spent: usdc(0), validUntil: 0n, endsAt, toolsHash: hashTools([]) };
  const ledger = { listBudgetsDue: async () => [budget] } as unknown as Ledger;
  const readSpendable = async () => ({
    ...spendableOf(ALICE, 100n, { budgets: new Map([[7n, onChain]]) }),
    timestamp: NOW_S,
  });
  return owedReason({ ledger, readSpendable }, ALICE, usdc(1_000_000));
}

it("whoever owes is told how much, and that it is collected when there is money for it", async () => {
  expect(await ask(NOW_S, 0n)).toBe(
    "earlier charges of 1.00 USDC could not be paid and are still owed to the developers of tools; they are collected as soon as the payer can pay them",
  );
});

it("whoever owes under a budget that has ended is told to sign it for longer", async () => {
  expect(await ask(NOW_S - 1n, 0n)).toContain("budget 7, which they draw on, has ended: sign it again for longer");
});

it("whoever owes under a budget that it has ended itself is told that no money helps", async () => {
  expect(await ask(NOW_S + 9n, NOW_S - 1n)).toContain(
    "the payer has ended budget 7, which they draw on, so that nobody",
  );
  // The grace is not over.
  expect(await ask(NOW_S + 9n, NOW_S)).toContain("collected as soon as");
});
