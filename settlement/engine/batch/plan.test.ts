import { describe, expect, it } from "vitest";
import { microUsdc } from "../../domain/money.ts";
import { ALICE, accountOf, BOB } from "../../ledger/testing/fixtures.ts";
import { wholeAccounts } from "./plan.ts";

const CAROL = accountOf(0xca401);

const due = (chargedTo: typeof ALICE, charges: number) => ({
  chargedTo,
  charges,
  amount: microUsdc(BigInt(charges)),
  oldestDueAtMs: 0,
});

describe("the accounts of a batch", () => {
  it("are taken whole, as many as fit, longest waiting first", () => {
    expect(wholeAccounts([due(ALICE, 6), due(BOB, 5), due(CAROL, 4)], 10)).toEqual([ALICE, CAROL]);
  });

  it("are one that is larger than a batch when it has waited longest, whatever would fit beside it", () => {
    expect(wholeAccounts([due(ALICE, 11), due(BOB, 1)], 10)).toEqual([ALICE]);
    expect(wholeAccounts([due(BOB, 1), due(ALICE, 11), due(CAROL, 2)], 10)).toEqual([BOB, CAROL]);
  });
});
