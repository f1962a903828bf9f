import { expect, it } from "vitest";
import { SettlementError } from "../../../domain/errors.ts";
import { ALICE, ROUTER, usdc } from "../../../ledger/testing/fixtures.ts";
import type { EngineContext } from "../../context.ts";
import { bringBudget } from "./bringBudget.ts";

const brought = { id: 7n, maxSpend: usdc(100), validUntil: 1_000n, tools: [], signature: "0x01" } as const;

// A smart account that no longer takes what it signed for its own.
const withdrawn = {
  ledger: {
    findBudget: async () => null,
    keepBudget: () => Promise.reject(new SettlementError("invalid_input", "nothing is to be kept")),
  },
  chain: { chainId: 8453, router: ROUTER, isSigned: async () => false },
  clock: { nowMs: () => 1 },
} as unknown as EngineContext;

it("a signature that its payer has withdrawn is refused for what is new", async () => {
  expect(await bringBudget(withdrawn, ALICE, brought)).toMatchObject({
    kind: "budget_refused",
    refusal: { code: "budget_forged" },
  });
});

it("what was done before is found again though its signature was withdrawn since", async () => {
  expect(await bringBudget(withdrawn, ALICE, brought, async () => true)).toEqual({ kind: "brought", budgetId: 7n });
});

it("nothing is kept or drawn on where nothing is brought", async () => {
  expect(await bringBudget(withdrawn, ALICE, null)).toEqual({ kind: "brought", budgetId: null });
});
