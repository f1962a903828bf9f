import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import type { Spendable } from "../../../chain/chain.ts";
import { spendableOf } from "../../../chain/testing/spendableOf.ts";
import { type MicroUsdc, microUsdc } from "../../../domain/money.ts";
import { type BudgetOnChain, hashTools, type KnownBudget } from "../../../domain/payer/budget.ts";
import type { CreditPolicy } from "../../../domain/payer/credit.ts";
import type { Exposure } from "../../../domain/payer/payer.ts";
import type { ToolId } from "../../../domain/toolId.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { type PreflightOptions, preflight } from "./preflight.ts";

const PAYER: Address = "0x00000000000000000000000000000000000000aa";

const PLENTY: CreditPolicy = { base: microUsdc(10n ** 12n), growthBps: 0, max: microUsdc(0n) };
const LITTLE: CreditPolicy = { base: microUsdc(50n), growthBps: 1_000, max: microUsdc(60n) };

// One payer with 100 of everything and nothing pending, but for what a test says.
function ask(
  amount: bigint,
  chain: Partial<Record<keyof Spendable, bigint | boolean>> = {},
  own: Partial<Record<keyof Exposure, bigint>> = {},
  {
    credit = PLENTY,
    waits = null,
    ...options
  }: PreflightOptions & { credit?: CreditPolicy; waits?: string | null } = {},
) {
  const spendable = { ...spendableOf(PAYER, 100n, { dailyCapLeft: 100n }), ...chain } as Spendable;
  const exposure = { payer: PAYER, pending: 0n, held: 0n, owed: 0n, debt: 0n, settled: 0n, ...own };
  const ledger = {
    readExposures: async () => [exposure as Exposure],
    listBudgetsDue: async () => [],
  } as unknown as Ledger;
  const unsettled = async () => waits;
  return preflight(
    { ledger, readSpendable: async () => spendable, credit, unsettled },
    PAYER,
    microUsdc(amount),
    options,
  );
}

describe("preflight", () => {
  it("says ok up to the last unit, with the funds", async () => {
    expect(await ask(40n, {}, { pending: 50n, held: 10n })).toMatchObject({
      code: "ok",
      funds: {
        available: 40n as MicroUsdc,
        balance: 100n,
        allowance: 100n,
        dailyCapLeft: 100n,
        pending: 50n,
        held: 10n,
        debt: 0n,
      },
    });
  });

  it("counts what is pending and held against every limit", async () => {
    expect(await ask(41n, {}, { pending: 50n, held: 10n })).toMatchObject({ code: "insufficient_allowance" });
  });

  it.each([
    ["insufficient_allowance", "spending cap", { allowance: 9n }],
    ["insufficient_allowance", "daily cap", { dailyCapLeft: 9n }],
    ["payment_failed", "not enough USDC", { balance: 9n, amount: 9n }],
    ["payment_failed", "token lets nothing", { amount: 0n }],
  ] as const)("answers %s and says why: %s", async (code, reason, chain) => {
    expect(await ask(10n, chain)).toMatchObject({ code, reason: expect.stringContaining(reason) });
  });

  it("refuses a payer with a debt whatever there is to spend", async () => {
    expect(await ask(1n, {}, { debt: 1n })).toMatchObject({
      code: "payment_failed",
      reason: expect.stringContaining("still owed"),
      funds: { debt: 1n },
    });
  });

  it("refuses a payer who owes what the platform does not absorb, and says how much", async () => {
    expect(await ask(1n, {}, { pending: 5n, owed: 5n })).toMatchObject({
      code: "payment_failed",
      reason: expect.stringContaining("0.000005 USDC could not be paid and are still owed"),
      funds: { owed: 5n },
    });
  });

  it("delivers no more on credit than the payer has, and says what to do", async () => {
    const own = { pending: 20n, held: 10n };
    expect(await ask(20n, {}, own, { credit: LITTLE })).toMatchObject({
      code: "ok",
      funds: { creditLimit: 50n, creditLeft: 20n },
    });
    expect(await ask(21n, {}, own, { credit: LITTLE })).toMatchObject({
      code: "credit_exceeded",
      reason: expect.stringContaining("deposit USDC in advance"),
    });
  });

  it("gives more credit to who has paid, and none is needed for what is prepaid", async () => {
    expect(await ask(55n, {}, { settled: 50n }, { credit: LITTLE })).toMatchObject({ code: "ok" });
    expect(await ask(70n, { prepaid: 20n }, {}, { credit: LITTLE })).toMatchObject({ code: "ok" });
    expect(await ask(71n, { prepaid: 20n }, {}, { credit: LITTLE })).toMatchObject({ code: "credit_exceeded" });
  });

  it("gives no more than credit for what is prepaid while nothing can be settled, and says why", async () => {
    const waits = "the router is paused";
    const prepaid = { amount: 0n, allowance: 0n, prepaid: 500n, dailyCapLeft: 500n };
    expect(await ask(50n, prepaid, {}, { credit: LITTLE, waits })).toMatchObject({
      code: "ok",
      spendable: { prepaid: 0n },
    });
    expect(await ask(21n, prepaid, { pending: 20n, held: 10n }, { credit: LITTLE, waits })).toMatchObject({
      code: "credit_exceeded",
      reason: expect.stringContaining("while nothing can be settled (the router is paused)"),
      funds: { prepaid: 500n, creditLeft: 20n },
    });
    expect(await ask(71n, { prepaid: 20n }, {}, { credit: LITTLE, waits })).toMatchObject({ code: "credit_exceeded" });
    expect(await ask(500n, prepaid, {}, { credit: LITTLE })).toMatchObject({ code: "ok" });
  });

  it("asks a budget for money and not for credit", async () => {
    expect(await ask(100n, {}, {}, { credit: LITTLE, onCredit: 0n })).toMatchObject({ code: "ok" });
    expect(await ask(101n, {}, {}, { credit: LITTLE, onCredit: 0n })).toMatchObject({ code: "insufficient_allowance" });
  });

  it("counts prepaid money instead of the wallet, and never both together", async () => {
    const poor = { amount: 0n, allowance: 0n, prepaid: 50n };
    expect(await ask(40n, poor, { pending: 10n })).toMatchObject({ code: "ok", spendable: { amount: 50n } });
    expect(await ask(41n, poor, { pending: 10n })).toMatchObject({
      code: "insufficient_allowance",
      reason: expect.stringContaining("prepaid balance leaves too little"),
      funds: { available: 40n, prepaid: 50n },
    });
    // 100 in the wallet and 50 prepaid are no 101 for one row.
    expect(await ask(100n, { prepaid: 50n })).toMatchObject({ code: "ok", spendable: { amount: 100n } });
    expect(await ask(101n, { prepaid: 50n })).toMatchObject({ code: "insufficient_allowance" });
  });

  it("holds the daily cap against prepaid money", async () => {
    expect(await ask(10n, { prepaid: 50n, dailyCapLeft: 9n, amount: 9n })).toMatchObject({
      code: "insufficient_allowance",
      reason: expect.stringContaining("daily cap"),
      funds: { available: 9n },
    });
  });

  it("does not serve whoever demands consent without a budget, and says what to do", async () => {
    expect(await ask(1n, { consentRequired: true, prepaid: 50n })).toMatchObject({
      code: "consent_required",
      reason: expect.stringContaining("sign a budget"),
    });
  });

  describe("under a budget", () => {
    const known: KnownBudget = {
      ...{ payer: PAYER, id: 7n, maxSpend: microUsdc(50n), validUntil: 1_000n, tools: [], signature: "0x" },
      ...{ held: microUsdc(10n), pending: microUsdc(5n), taken: microUsdc(5n), carried: microUsdc(0n) },
    };
    const unknown: BudgetOnChain = {
      ...{ maxSpend: microUsdc(0n), spent: microUsdc(0n), validUntil: 0n, endsAt: 0n, toolsHash: hashTools([]) },
    };
    const TOOL = `0x${"1".padStart(32, "0")}` as ToolId;
    function under(
      amount: bigint,
      {
        budget = known as KnownBudget | null,
        onChain = {} as Partial<BudgetOnChain>,
        settledBy = 1_000n,
        others = 0,
      } = {},
    ) {
      const budgets = new Map([[7n, { ...unknown, ...onChain }]]);
      const spendable = spendableOf(PAYER, 100n, { dailyCapLeft: 100n, consentRequired: true, budgets });
      const exposure = { payer: PAYER, pending: 5n, held: 10n, debt: 0n };
      const ledger = {
        readExposures: async () => [exposure],
        findBudget: async () => budget,
        countOpenBudgets: async () => others,
      } as unknown as Ledger;
      const draft = { budgetId: 7n, amount, toolIds: [TOOL], settledBy };
      const asked = { ledger, readSpendable: async () => spendable, credit: PLENTY, unsettled: async () => null };
      return preflight(asked, PAYER, microUsdc(amount), { draft });
    }

    it("serves whoever demands consent up to the last unit that was signed", async () => {
      expect(await under(30n)).toMatchObject({ code: "ok", spendable: { budget: unknown } });
      expect(await under(31n)).toMatchObject({
        code: "budget_exceeded",
        reason: "budget 7 of 0.00005 leaves 0.00003; sign it again with a higher maxSpend",
      });
      // Of what the chain has taken more than this ledger, somebody else has drawn it.
      expect(await under(26n, { onChain: { spent: microUsdc(10n) } })).toMatchObject({ code: "ok" });
      expect(await under(25n, { onChain: { spent: microUsdc(11n) } })).toMatchObject({ code: "budget_exceeded" });
    });

    it("takes nothing that may be settled too late, and nothing new once the payer has ended it", async () => {
      expect(await under(1n, { settledBy: 1_001n })).toMatchObject({ code: "budget_expired" });
      expect(await under(1n, { onChain: { endsAt: 10_000n } })).toMatchObject({
        code: "budget_expired",
        reason: expect.stringContaining("has ended budget 7"),
      });
    });

    it("takes nothing under one more budget while what was delivered under many others is not settled", async () => {
      expect(await under(1n, { others: 15 })).toMatchObject({ code: "ok" });
      expect(await under(1n, { others: 16 })).toMatchObject({
        code: "credit_exceeded",
        reason: expect.stringContaining("raise one of them"),
      });
      // A session is a limit, and draws on nothing yet.
      expect(await under(0n, { others: 16 })).toMatchObject({ code: "ok" });
    });

    it("takes nothing for another tool, or under a budget that nobody has brought", async () => {
      const other = { ...known, tools: [`0x${"2".padStart(32, "0")}` as ToolId] };
      expect(await under(1n, { budget: other })).toMatchObject({ code: "budget_tools" });
      expect(await under(1n, { budget: null })).toMatchObject({ code: "consent_required" });
    });
  });

  it("answers no_wallet without one", async () => {
    const nobody = {} as Ledger;
    const unread = () => Promise.reject(new Error("nothing should be read"));
    const context = { ledger: nobody, readSpendable: unread, credit: PLENTY, unsettled: unread };
    expect(await preflight(context, null, microUsdc(1n))).toEqual({ code: "no_wallet" });
  });

  it("never shows less than nothing as available", async () => {
    expect(await ask(0n, { amount: 5n }, { pending: 50n })).toMatchObject({ funds: { available: 0n } });
  });
});
