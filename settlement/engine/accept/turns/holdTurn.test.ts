import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Spendable } from "../../../chain/chain.ts";
import { spendableOf } from "../../../chain/testing/spendableOf.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { ledgers, type Store } from "../../../ledger/testing/backends.ts";
import { ALICE, HASHES, POLICY, RICH, toolOf, turnOf, usdc } from "../../../ledger/testing/fixtures.ts";
import type { Admission } from "../admission.ts";
import { preflight } from "../preflight/preflight.ts";
import type { Prices } from "../prices.ts";
import { holdTurn } from "./holdTurn.ts";
import { recordTurn } from "./recordTurn.ts";

const policy = { credit: { base: usdc(100), growthBps: 0, max: usdc(0) }, budgetMarginMs: 0 };
const open: Admission = { write: (_, write) => write() };
const full: Admission = { write: () => Promise.reject(new Error("settlement does not keep up")) };
const anyPrice: Prices = { refuse: async () => null };

describe.each(ledgers)("a question, on $name,", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = 5;
    store = await create();
    ledger = await store.open();
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000_000 }, 0);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    await store.remove();
  });

  const unsettled = async () => null;
  const context = () => ({ ledger, clock: { nowMs: () => nowMs }, policy, unsettled });
  const reads =
    (own: Partial<Spendable> = {}) =>
    async () => ({ ...spendableOf(ALICE, 10n ** 9n), ...own });
  const ask = (
    turnId: string,
    amount: number,
    { admission = open, own = {} as Partial<Spendable>, looked = () => {} } = {},
  ) =>
    holdTurn(
      context(),
      async (payer, price, notBefore = 0n, draft = null) => {
        const asked = { ledger, readSpendable: reads(own), credit: policy.credit, unsettled };
        const answer = await preflight(asked, payer, price, {
          notBefore,
          draft,
        });
        await looked();
        return answer;
      },
      admission,
      { turnId, payer: ALICE, amount: usdc(amount), budgetId: null },
    );
  const record = (id: string, amount: number) =>
    recordTurn(context(), reads(), open, anyPrice, turnOf(id, { modelCost: usdc(amount), tools: [] }));
  const buy = (callId: string, amount: number) =>
    ledger.hold(
      { callId, sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(amount) },
      RICH,
      1,
      policy.credit,
    );

  it("is owed what was answered, whatever its payer buys meanwhile", async () => {
    expect(await ask("q", 60)).toEqual({ kind: "held" });
    expect(await buy("c", 41)).toMatchObject({ kind: "credit_exceeded" });
    expect(await buy("c", 40)).toMatchObject({ kind: "held" });
    expect(await record("q", 60)).toMatchObject({ kind: "recorded" });
  });

  it("is refused with the words of the pre-flight, and what waits in sessions is settled at once", async () => {
    expect(await ask("q", 10, { own: { allowance: 9n, amount: usdc(9) } })).toMatchObject({
      kind: "refused",
      preflight: { code: "insufficient_allowance" },
    });
    await buy("c", 60);
    await ledger.capture({ callId: "c", hashes: HASHES }, POLICY, 1);
    expect(await ledger.hasWaiting(ALICE)).toBe(true);
    expect(await ask("q", 41)).toMatchObject({ kind: "refused", preflight: { code: "credit_exceeded" } });
    expect(await ledger.hasWaiting(ALICE)).toBe(false);
  });

  it("is refused though there was room when it was looked at", async () => {
    const looked = () => buy("c", 60);
    expect(await ask("q", 60, { looked: looked as never })).toMatchObject({
      kind: "refused",
      preflight: { code: "credit_exceeded", reason: expect.stringContaining("0.00012 USDC") },
    });
  });

  it("that was held before is the same, with no credit and no room left", async () => {
    await ask("q", 60);
    await buy("c", 40);
    expect(await ask("q", 60, { admission: full, own: { allowance: 0n, amount: usdc(0) } })).toEqual({
      kind: "duplicate",
    });
    expect(await ask("q", 61)).toEqual({ kind: "conflict" });
    await expect(ask("other", 1, { admission: full, own: { prepaid: usdc(1_000) } })).rejects.toThrow(
      "does not keep up",
    );
  });
});
