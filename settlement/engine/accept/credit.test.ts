import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ReadSpendable } from "../../chain/readSpendable.ts";
import { spendableOf } from "../../chain/testing/spendableOf.ts";
import { SettlementError } from "../../domain/errors.ts";
import { microUsdc } from "../../domain/money.ts";
import type { Lease, Ledger } from "../../ledger/ledger.ts";
import { ledgers, type Store } from "../../ledger/testing/backends.ts";
import {
  ALICE,
  HASHES,
  inclusionAt,
  leaseOf,
  outcomeOf,
  POLICY,
  RICH,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../../ledger/testing/fixtures.ts";
import type { Admission } from "./admission.ts";
import { hold } from "./calls/hold.ts";
import { preflight } from "./preflight/preflight.ts";
import type { Prices } from "./prices.ts";
import { recordTurn } from "./turns/recordTurn.ts";

const policy = { credit: { base: usdc(100), growthBps: 1_000, max: usdc(1_000) }, budgetMarginMs: 0 };
const open: Admission = { write: (_, write) => write() };
const anyPrice: Prices = { refuse: async () => null };
const costing = (id: string, amount: number) => turnOf(id, { modelCost: usdc(amount), tools: [] });
const call = (callId: string, sessionId: string, amount: number) => ({
  callId,
  sessionId,
  toolId: toolOf(1),
  method: "m",
  amount: usdc(amount),
});
const unread: ReadSpendable = () => Promise.reject(new Error("nothing should be read"));

describe.each(ledgers)("what is above a payer's credit, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let lease: Lease;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    lease = await leaseOf(ledger);
    for (const id of ["s", "t"]) {
      await ledger.openSession({ id, payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000_000 }, 0);
    }
    await ledger.hold(call("first", "s", 60), RICH, 1);
    await ledger.capture({ callId: "first", hashes: HASHES }, POLICY, 1);
    waits = null;
  });
  afterEach(() => store.remove());

  let waits: string | null = null;
  const unsettled = async () => waits;
  const asked = { credit: policy.credit, unsettled };
  const context = () => ({ ledger, clock: { nowMs: () => 5 }, policy, unsettled });
  const readerOf =
    (prepaid: bigint, atBlock = 0n): ReadSpendable =>
    async (payer) => ({ ...spendableOf(payer, 10n ** 9n), prepaid: microUsdc(prepaid), atBlock });
  const held = (callId: string, amount: number, prepaid = 0n) =>
    hold(
      context(),
      (payer, price, notBefore = 0n) =>
        preflight({ ...asked, readSpendable: readerOf(prepaid), ledger }, payer, price, { notBefore }),
      open,
      anyPrice,
      call(callId, "t", amount),
    );

  it("is refused with a sentence, and what the payer's sessions have waiting is settled at once", async () => {
    expect(await ledger.listDuePayers(5, 1)).toEqual([]);
    expect(await held("c", 41)).toMatchObject({
      kind: "refused",
      preflight: {
        code: "credit_exceeded",
        reason:
          "what was delivered and is not settled yet would come to 0.000101 USDC, and this payer has credit for 0.0001; " +
          "it is being settled: try again in a minute, or deposit USDC in advance",
        funds: { creditLimit: 100n, creditLeft: 40n },
      },
      session: { id: "t" },
    });
    expect(await ledger.listDuePayers(5, 1)).toMatchObject([{ chargedTo: ALICE, oldestDueAtMs: 5 }]);
    expect(await held("c", 40)).toMatchObject({ kind: "held" });
  });

  it("is refused though it was not above it when it was looked at", async () => {
    const looked = await preflight({ ...asked, readSpendable: readerOf(0n), ledger }, ALICE, microUsdc(40n));
    await held("other", 1);
    const outcome = await hold(context(), async () => looked, open, anyPrice, call("c", "t", 40));
    expect(outcome).toMatchObject({ kind: "refused", preflight: { code: "credit_exceeded" } });
    expect(await ledger.hasWaiting(ALICE)).toBe(false);
  });

  it("is taken as far as prepaid money covers it", async () => {
    expect(await held("c", 90, 50n)).toMatchObject({ kind: "held" });
    expect(await held("d", 1, 50n)).toMatchObject({ kind: "refused", preflight: { code: "credit_exceeded" } });
  });

  it("is refused though prepaid money covers it, while nothing can be settled", async () => {
    waits = "the router is paused";
    expect(await held("c", 41, 500n)).toMatchObject({ kind: "refused", preflight: { code: "credit_exceeded" } });
    expect(await recordTurn(context(), readerOf(500n), open, anyPrice, costing("a", 41))).toMatchObject({
      kind: "credit_exceeded",
    });
    expect(await held("c", 40, 500n)).toMatchObject({ kind: "held" });
    // However many calls have looked before the first of them is held.
    const all = await Promise.all(["d", "e"].map((callId) => held(callId, 1, 500n)));
    expect(all).toMatchObject([{ kind: "refused" }, { kind: "refused" }]);
    waits = null;
    expect(await held("d", 400, 500n)).toMatchObject({ kind: "held" });
  });

  it("a turn within it is recorded without a question to the chain", async () => {
    expect(await recordTurn(context(), unread, open, anyPrice, costing("a", 40))).toMatchObject({ kind: "recorded" });
    expect(await recordTurn(context(), unread, open, anyPrice, costing("a", 40))).toMatchObject({ kind: "duplicate" });
  });

  it("a turn above it is recorded if prepaid money covers it, asked for since something was taken", async () => {
    const batchId = await (async () => {
      await ledger.flushPayer(ALICE, 2);
      return submitted(ledger, lease, [ALICE], 2);
    })();
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", outcomeOf());
    const asked: bigint[] = [];
    const read: ReadSpendable = (payer, notBefore = 0n) => {
      asked.push(notBefore);
      return readerOf(50n, notBefore)(payer);
    };
    expect(await recordTurn(context(), read, open, anyPrice, costing("a", 150))).toMatchObject({ kind: "recorded" });
    expect(await recordTurn(context(), read, open, anyPrice, costing("b", 1))).toMatchObject({
      kind: "credit_exceeded",
    });
    expect(asked).toEqual([7n, 7n]);
  });

  it("a turn above it is refused if the chain does not answer, and waits in no session", async () => {
    const away: ReadSpendable = () => Promise.reject(new SettlementError("chain_unavailable", "", { retryable: true }));
    expect(await recordTurn(context(), away, open, anyPrice, costing("a", 41))).toMatchObject({
      kind: "credit_exceeded",
      exposure: 101n,
      limit: 100n,
    });
    expect(await ledger.hasWaiting(ALICE)).toBe(false);
  });
});
