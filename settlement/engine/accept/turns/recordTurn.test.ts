import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Turn, TurnTool } from "../../../domain/charges/turn.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { ledgers, type Store } from "../../../ledger/testing/backends.ts";
import { ALICE, toolOf, turnOf, usdc } from "../../../ledger/testing/fixtures.ts";
import { DEFAULT_POLICY } from "../../policy.ts";
import type { Admission } from "../admission.ts";
import type { Prices } from "../prices.ts";
import { recordTurn } from "./recordTurn.ts";

const open: Admission = { write: (_, write) => write() };
const unread = () => Promise.reject(new Error("nobody asks what the payer can spend"));

describe.each(ledgers)("a turn that asks more for a tool than it is listed for, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  // What each tool is listed for.
  let most = usdc(10);

  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    most = usdc(10);
  });
  afterEach(() => store.remove());

  const prices: Prices = {
    refuse: async (costs) => {
      const above = costs.filter(({ amount }) => amount > most);
      return above.length === 0 ? null : { reason: "too much", listed: above.map(({ toolId }) => ({ toolId, most })) };
    },
  };
  const asking = (amount: number, fields: Partial<Turn> = {}): Turn => {
    const tools: TurnTool[] = [1, 2].map((n) => ({ toolId: toolOf(n), amount: usdc(n === 1 ? amount : 5), calls: 1 }));
    return turnOf("a", { modelCost: usdc(3), tools, ...fields });
  };
  const record = (turn: Turn) =>
    recordTurn(
      { ledger, clock: { nowMs: () => 1 }, policy: DEFAULT_POLICY, unsettled: async () => null },
      unread,
      open,
      prices,
      turn,
    );
  const pending = async () => (await ledger.readExposures([ALICE]))[0]?.pending;

  it("is not recorded, nor is any part of it, and says what may be asked", async () => {
    expect(await record(asking(11))).toEqual({
      kind: "price_exceeded",
      reason: "too much; report the turn again with no more than that",
      listed: [{ toolId: toolOf(1), most: 10n }],
    });
    expect(await pending()).toBe(0n);
  });

  it("is recorded as soon as it asks no more, and what was held for it is still there", async () => {
    await ledger.holdTurn(
      { turnId: "a", payer: ALICE, amount: usdc(30), budgetId: null },
      { amount: 100n, atBlock: 0n },
      1,
      null,
    );
    await record(asking(11));
    expect((await ledger.readExposures([ALICE]))[0]).toMatchObject({ pending: 0n, held: 30n });
    expect(await record(asking(10))).toMatchObject({ kind: "recorded" });
    expect((await ledger.readExposures([ALICE]))[0]).toMatchObject({ pending: 18n, held: 0n });
  });

  it("is found again if it was recorded before its price was lowered, and is not recorded once more for less", async () => {
    expect(await record(asking(10))).toMatchObject({ kind: "recorded" });
    most = usdc(4);
    expect(await record(asking(10))).toMatchObject({ kind: "duplicate" });
    expect(await record(asking(4))).toEqual({ kind: "conflict" });
    expect(await pending()).toBe(18n);
  });

  it("is recorded if it failed: nothing is charged for its tools", async () => {
    expect(await record(asking(11, { outcome: "failed" }))).toMatchObject({ kind: "recorded" });
    expect(await pending()).toBe(3n);
  });
});
