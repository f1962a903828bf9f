import { describe, expect, it } from "vitest";
import { microUsdc } from "../../domain/money.ts";
import { ALICE, accountOf, BOB } from "../../ledger/testing/fixtures.ts";
import { divide, inTurns } from "./divide.ts";
import { MAX_RECEIPTS_PER_ROW } from "./net.ts";

const CAROL = accountOf(0xca401);
const DAVE = accountOf(0xda4e);

const due = (chargedTo: typeof ALICE, charges: number) => ({
  chargedTo,
  charges,
  amount: microUsdc(BigInt(charges)),
  oldestDueAtMs: 0,
});
const WHOLE = new Map();

describe("the room of a batch", () => {
  it("goes to whole accounts, as many as fit, longest waiting first", () => {
    expect(divide([due(ALICE, 5), due(BOB, 5), due(CAROL, 1)], WHOLE, 10)).toEqual({
      accounts: [ALICE, BOB],
      parts: [],
    });
    expect(divide([due(ALICE, 5), due(BOB, 4), due(CAROL, 3), due(DAVE, 1)], WHOLE, 10)).toEqual({
      accounts: [ALICE, BOB, DAVE],
      parts: [],
    });
  });

  it("goes to one account by half, and what nobody else needs", () => {
    expect(divide([due(ALICE, 11), due(BOB, 2)], WHOLE, 10)).toEqual({
      accounts: [BOB],
      parts: [{ account: ALICE, row: null, maxCharges: 8 }],
    });
    expect(divide([due(ALICE, 11)], WHOLE, 10).parts).toEqual([{ account: ALICE, row: null, maxCharges: 10 }]);
    expect(divide([due(ALICE, 6), due(BOB, 7), due(CAROL, 1)], WHOLE, 10)).toEqual({
      accounts: [],
      parts: [
        { account: ALICE, row: null, maxCharges: 5 },
        { account: BOB, row: null, maxCharges: 5 },
      ],
    });
  });

  it("goes to one account no further than its row may have receipts", () => {
    const all = [due(ALICE, 9_000), due(BOB, 2)];
    expect(divide(all, WHOLE, 10_000)).toEqual({
      accounts: [BOB],
      parts: [{ account: ALICE, row: null, maxCharges: MAX_RECEIPTS_PER_ROW }],
    });
    expect(divide([due(ALICE, MAX_RECEIPTS_PER_ROW)], WHOLE, 10_000).accounts).toEqual([ALICE]);
    expect(divide([due(ALICE, 1_500)], WHOLE, 1_200).parts).toEqual([
      { account: ALICE, row: null, maxCharges: MAX_RECEIPTS_PER_ROW },
    ]);
  });

  it("is never too small for one", () => {
    expect(divide([due(ALICE, 3), due(BOB, 1)], WHOLE, 1).parts).toEqual([
      { account: ALICE, row: null, maxCharges: 1 },
    ]);
  });

  it("is taken by what a row can have, and not by what is due under other budgets", () => {
    const row = { chargedTo: ALICE, budgetId: 7n, charges: 2, dueUpToMs: 3 };
    expect(divide([due(ALICE, 100), due(BOB, 5), due(CAROL, 3)], new Map([[ALICE, row]]), 10)).toEqual({
      accounts: [BOB, CAROL],
      parts: [{ account: ALICE, row, maxCharges: 2 }],
    });
  });
});

it("whoever has a row in a batch on its way comes after the others, each longest waiting first", () => {
  const all = [due(ALICE, 1), due(BOB, 1), due(CAROL, 1)];
  expect(inTurns(all, new Set([ALICE])).map(({ chargedTo }) => chargedTo)).toEqual([BOB, CAROL, ALICE]);
  expect(inTurns(all, new Set([ALICE, CAROL])).map(({ chargedTo }) => chargedTo)).toEqual([BOB, ALICE, CAROL]);
  expect(inTurns(all, new Set())).toEqual(all);
});
