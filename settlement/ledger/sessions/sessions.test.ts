import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import {
  ALICE,
  BOB,
  HASHES,
  inclusionAt,
  leaseOf,
  outcomeOf,
  POLICY,
  planned,
  RICH,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../testing/fixtures.ts";

const HOUR_MS = 3_600_000;

describe.each(ledgers)("sessions on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: HOUR_MS }, 0);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    await store.remove();
  });

  const hold = (callId: string, amount = 100, nowMs = 1) =>
    ledger.hold({ callId, sessionId: "s", toolId: toolOf(1), method: "quote", amount: usdc(amount) }, RICH, nowMs);
  const capture = (callId: string, nowMs = 2, policy = POLICY) =>
    ledger.capture({ callId, hashes: HASHES }, policy, nowMs);
  const sweep = (nowMs: number, holdTtlMs = HOUR_MS) => ledger.sweepSessions(POLICY, holdTtlMs, nowMs, 100);
  const dueAt = async (nowMs: number) =>
    (await ledger.listDuePayers(nowMs, 10)).reduce((sum, { charges }) => sum + charges, 0);

  it("calls of many sessions together never come to more than the payer can spend", async () => {
    const sessions = Array.from({ length: 20 }, (_, i) => `many ${i}`);
    for (const id of sessions) {
      await ledger.openSession({ id, payer: ALICE, maxSpend: usdc(100), expiresAtMs: HOUR_MS }, 0);
    }
    const funds = { amount: 250n, atBlock: 7n };
    const call = { toolId: toolOf(1), method: "quote", amount: usdc(100) };
    const holds = sessions.map((id) => ledger.hold({ ...call, callId: id, sessionId: id }, funds, 1));
    const kinds = (await Promise.all(holds)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "held")).toHaveLength(2);
    expect(kinds.filter((kind) => kind === "unaffordable")).toHaveLength(18);
    // What was held before is the same call, whatever there is by now.
    const known = sessions[kinds.indexOf("held")] ?? "";
    const again = { ...call, callId: known, sessionId: known };
    expect(await ledger.hold(again, { amount: 0n, atBlock: 7n }, 1)).toMatchObject({ kind: "duplicate" });
    expect(await ledger.hold(again, null, 1)).toMatchObject({ kind: "duplicate" });
  });

  it("what was read of the chain before a payer's money was taken is outdated", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("t"), 1);
    const batchId = await submitted(ledger, lease, [ALICE], 2);
    await ledger.recordInclusion(lease, batchId, inclusionAt(9n), "success", outcomeOf());
    const call = { callId: "c", sessionId: "s", toolId: toolOf(1), method: "quote", amount: usdc(100) };
    expect(await ledger.hold(call, { amount: 10n ** 9n, atBlock: 8n }, 3)).toEqual({
      kind: "outdated",
      takenAtBlock: 9n,
    });
    expect(await ledger.hold(call, { amount: 10n ** 9n, atBlock: 9n }, 3)).toMatchObject({ kind: "held" });
  });

  it("open sessions of one payer are counted, up to a bound, and not those that are over", async () => {
    for (const id of ["a", "b", "c"]) {
      await ledger.openSession({ id, payer: ALICE, maxSpend: usdc(1), expiresAtMs: HOUR_MS }, 0);
    }
    await ledger.openSession({ id: "short", payer: ALICE, maxSpend: usdc(1), expiresAtMs: 5 }, 0);
    await ledger.openSession({ id: "bob's", payer: BOB, maxSpend: usdc(1), expiresAtMs: HOUR_MS }, 0);
    await ledger.closeSession("a", 1);
    expect(await ledger.countOpenSessions(ALICE, 5, 100)).toBe(3);
    expect(await ledger.countOpenSessions(ALICE, 4, 100)).toBe(4);
    expect(await ledger.countOpenSessions(ALICE, 4, 2)).toBe(2);
    expect(await ledger.countOpenSessions(ALICE, HOUR_MS, 100)).toBe(0);
  });

  it("sessions that ended without a call are forgotten, and no others", async () => {
    const open = (id: string, expiresAtMs: number) =>
      ledger.openSession({ id, payer: ALICE, maxSpend: usdc(1_000), expiresAtMs }, 0);
    for (const id of ["expired", "closed", "voided", "free", "young"]) await open(id, id === "young" ? 500 : 100);
    for (const [sessionId, amount] of [
      ["voided", 100],
      ["free", 0],
    ] as const) {
      const call = { callId: sessionId, sessionId, toolId: toolOf(1), method: "quote", amount: usdc(amount) };
      expect(await ledger.hold(call, RICH, 1)).toMatchObject({ kind: "held" });
    }
    await ledger.void("voided");
    await ledger.capture({ callId: "free", hashes: HASHES }, POLICY, 2);
    await ledger.closeSession("closed", 3);
    // Nobody has written down yet that the others are over.
    expect(await ledger.forgetSessions(400, 10)).toBe(1);
    await sweep(600);
    expect(await ledger.forgetSessions(400, 10)).toBe(1);
    const left = (await ledger.listSessions(ALICE, 10, 0)).map(({ id }) => id);
    expect(left.toSorted()).toEqual(["free", "s", "voided", "young"]);
  });

  it("the same session again is a duplicate, and a conflict with another payer or budget", async () => {
    const again = { id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: HOUR_MS + 5 };
    expect(await ledger.openSession(again, 5)).toMatchObject({ kind: "duplicate", session: { expiresAtMs: HOUR_MS } });
    expect(await ledger.openSession({ ...again, payer: BOB }, 5)).toEqual({ kind: "conflict" });
    expect(await ledger.openSession({ ...again, maxSpend: usdc(1) }, 5)).toEqual({ kind: "conflict" });
  });

  it("a hold reserves, a capture spends, a void gives back", async () => {
    expect(await hold("a")).toMatchObject({ kind: "held", session: { held: 100n, spent: 0n, methodPrice: 100n } });
    expect(await hold("b", 50)).toMatchObject({ kind: "held", session: { held: 150n, methodPrice: 50n } });
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ pending: 0n, held: 150n }]);
    expect(await capture("a")).toMatchObject({
      kind: "captured",
      session: { held: 50n, spent: 100n, pendingAccruedCount: 1, pendingAccrued: 100n },
    });
    expect(await ledger.void("b")).toMatchObject({ kind: "voided", session: { held: 0n, spent: 100n } });
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ pending: 100n, held: 0n }]);
    expect(await ledger.listChargesOf({ callId: "a" })).toMatchObject([{ amount: 100n, hashes: HASHES, payer: ALICE }]);
    expect(await ledger.listChargesOf({ callId: "b" })).toEqual([]);
  });

  it("the same hold again is a duplicate whatever became of it, and a conflict with other contents", async () => {
    await hold("a");
    expect(await hold("a")).toMatchObject({ kind: "duplicate", session: { held: 100n } });
    expect(await hold("a", 99)).toEqual({ kind: "conflict" });
    await capture("a");
    await ledger.closeSession("s", 3);
    expect(await hold("a")).toMatchObject({ kind: "duplicate", hold: { state: { kind: "captured" } } });
    expect(await ledger.findSession("s")).toMatchObject({ methodPrice: 100n, spent: 100n, held: 0n });
  });

  it.each([
    ["capture", "capture", ["captured", "duplicate"]],
    ["capture", "void", ["captured", "captured"]],
    ["void", "capture", ["voided", "voided"]],
    ["void", "void", ["voided", "duplicate"]],
  ] as const)("%s, then %s: %o", async (first, second, kinds) => {
    await hold("a");
    const verbs = { capture: () => capture("a"), void: () => ledger.void("a") };
    expect([(await verbs[first]()).kind, (await verbs[second]()).kind]).toEqual(kinds);
    const spent = first === "capture" ? 100n : 0n;
    expect(await ledger.findSession("s")).toMatchObject({ spent, held: 0n });
    expect(await ledger.readTotals()).toMatchObject({ accrued: spent });
  });

  it("what is not there is not found", async () => {
    expect(await capture("x")).toEqual({ kind: "hold_not_found" });
    expect(await ledger.void("x")).toEqual({ kind: "hold_not_found" });
    expect(await ledger.closeSession("x", 0)).toEqual({ kind: "session_not_found" });
    expect(await ledger.findSession("x")).toBeNull();
    const call = { callId: "a", sessionId: "x", toolId: toolOf(1), method: "m", amount: usdc(1) };
    expect(await ledger.hold(call, RICH, 0)).toEqual({ kind: "session_not_found" });
  });

  it("a thousand calls at once against the last cent never overrun the budget", async () => {
    await hold("first", 990);
    const answers = await Promise.all(Array.from({ length: 1_000 }, (_, i) => hold(`call ${i}`, 1)));
    expect(answers.filter(({ kind }) => kind === "held")).toHaveLength(10);
    expect(answers.filter(({ kind }) => kind === "session_budget_exceeded")).toHaveLength(990);
    expect(await ledger.findSession("s")).toMatchObject({ held: 1_000n, spent: 0n });
  });

  it("captures of a whole budget spend it exactly once", async () => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => hold(`call ${i}`)));
    await Promise.all(Array.from({ length: 30 }, (_, i) => capture(`call ${i % 10}`)));
    expect(await ledger.findSession("s")).toMatchObject({ held: 0n, spent: 1_000n, pendingAccruedCount: 10 });
    expect(await ledger.readTotals()).toMatchObject({ accrued: 1_000n });
  });

  it("a free call is held and captured without a charge", async () => {
    expect(await hold("a", 0)).toMatchObject({ kind: "held" });
    expect(await capture("a")).toMatchObject({ kind: "captured", session: { pendingAccruedCount: 0 } });
    expect(await ledger.listChargesOf({ callId: "a" })).toEqual([]);
  });

  it("a close takes no more holds, flushes at once and lets running calls end", async () => {
    await hold("a");
    await hold("b");
    await hold("c");
    await capture("a");
    expect(await dueAt(3)).toBe(0);
    expect(await ledger.closeSession("s", 3)).toMatchObject({
      kind: "closed",
      session: { status: "closed", closeRequested: true, pendingAccruedCount: 0, spent: 100n, held: 200n },
    });
    expect(await dueAt(3)).toBe(1);
    expect(await hold("d")).toMatchObject({ kind: "session_closed" });
    expect(await capture("b", 4)).toMatchObject({ kind: "captured", session: { pendingAccruedCount: 0 } });
    expect(await dueAt(4)).toBe(2);
    expect(await ledger.void("c")).toMatchObject({ kind: "voided" });
    expect(await ledger.closeSession("s", 5)).toMatchObject({ kind: "duplicate" });
  });

  it("an expired session takes no more holds, before and after it is swept", async () => {
    await hold("a");
    await capture("a");
    expect(await hold("b", 100, HOUR_MS)).toMatchObject({ kind: "session_expired", session: { status: "expired" } });
    expect(await sweep(HOUR_MS)).toMatchObject({ expired: 1 });
    expect(await sweep(HOUR_MS)).toEqual({ expired: 0, voided: 0, flushed: 0 });
    expect(await ledger.findSession("s")).toMatchObject({ status: "expired", pendingAccruedCount: 0 });
    expect(await hold("b", 100, HOUR_MS)).toMatchObject({ kind: "session_expired" });
    expect(await dueAt(HOUR_MS)).toBe(1);
    expect(await ledger.closeSession("s", HOUR_MS)).toMatchObject({ kind: "closed", session: { status: "expired" } });
  });

  it("a session that is closed after its time and before a sweep is expired, and its charges are due", async () => {
    await hold("a");
    await capture("a");
    const asked = { status: "expired", closeRequested: true, pendingAccruedCount: 0 };
    expect(await ledger.closeSession("s", HOUR_MS)).toMatchObject({ kind: "closed", session: asked });
    expect(await dueAt(HOUR_MS)).toBe(1);
    expect(await sweep(HOUR_MS)).toEqual({ expired: 0, voided: 0, flushed: 0 });
    expect(await ledger.findSession("s")).toMatchObject(asked);
    expect(await ledger.closeSession("s", HOUR_MS)).toMatchObject({ kind: "duplicate", session: asked });
  });

  it("a session that is closed in its last moment is closed", async () => {
    expect(await ledger.closeSession("s", HOUR_MS - 1)).toMatchObject({ session: { status: "closed" } });
    expect(await sweep(HOUR_MS)).toMatchObject({ expired: 0 });
    expect(await ledger.findSession("s")).toMatchObject({ status: "closed" });
  });

  it("a hold that got too old is voided and cannot be captured any more", async () => {
    await hold("a", 100, 10);
    await hold("b", 100, 20);
    expect(await sweep(110, 100)).toEqual({ expired: 0, voided: 1, flushed: 0 });
    expect(await capture("a")).toMatchObject({ kind: "voided", session: { held: 100n } });
    expect(await capture("b")).toMatchObject({ kind: "captured" });
  });

  it("a hold by a clock that was far ahead is as old as any other from now on", async () => {
    await ledger.openSession({ id: "long", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000 * HOUR_MS }, 0);
    const call = { toolId: toolOf(1), method: "quote", amount: usdc(100) };
    await ledger.hold({ ...call, callId: "ahead", sessionId: "long" }, RICH, 500 * HOUR_MS);
    await ledger.hold({ ...call, callId: "a little ahead", sessionId: "long" }, RICH, 200);
    await sweep(100, 100);
    expect(await sweep(199, 100)).toMatchObject({ voided: 0 });
    expect(await sweep(200, 100)).toMatchObject({ voided: 1 });
    expect(await capture("ahead")).toMatchObject({ kind: "voided" });
    expect(await sweep(300, 100)).toMatchObject({ voided: 1 });
    expect(await ledger.readExposures([ALICE])).toMatchObject([{ held: 0n }]);
  });

  it.each([
    ["count", { ...POLICY, maxCount: 3 }],
    ["amount", { ...POLICY, maxAmount: usdc(300) }],
  ])("captures are handed to settlement at a threshold of %s", async (_, policy) => {
    for (const id of ["a", "b", "c"]) await hold(id);
    await capture("a", 2, policy);
    expect(await capture("b", 2, policy)).toMatchObject({ session: { pendingAccruedCount: 2, pendingAccrued: 200n } });
    expect(await dueAt(2)).toBe(0);
    expect(await capture("c", 2, policy)).toMatchObject({ session: { pendingAccruedCount: 0, pendingAccrued: 0n } });
    expect(await dueAt(2)).toBe(3);
  });

  it("captures are handed to settlement by age", async () => {
    await hold("a");
    await capture("a", 10);
    expect(await sweep(10 + POLICY.maxAgeMs - 1)).toMatchObject({ flushed: 0 });
    expect(await sweep(10 + POLICY.maxAgeMs)).toMatchObject({ flushed: 1 });
    expect(await ledger.findSession("s")).toMatchObject({ status: "open", pendingAccruedCount: 0 });
  });

  it("a charge that is batched by age before its session is flushed is no longer counted by the session", async () => {
    await hold("a");
    await hold("b");
    await capture("a", 10);
    await capture("b", 20);
    const lease = await leaseOf(ledger);
    expect(await planned(ledger, lease, [ALICE], 10 + POLICY.maxAgeMs)).not.toBeNull();
    expect(await ledger.findSession("s")).toMatchObject({ pendingAccruedCount: 1, pendingAccrued: 100n });
    expect(await sweep(20 + POLICY.maxAgeMs)).toMatchObject({ flushed: 1 });
  });

  it("sessions are listed newest first, of all payers or of one", async () => {
    for (const [i, payer] of [ALICE, BOB, ALICE].entries()) {
      await ledger.openSession({ id: `s${i}`, payer, maxSpend: usdc(1), expiresAtMs: 1_000 }, 1 + i);
    }
    const idsOf = async (...page: Parameters<Ledger["listSessions"]>) =>
      (await ledger.listSessions(...page)).map(({ id }) => id);
    expect(await idsOf(null, 10, 0)).toEqual(["s2", "s1", "s0", "s"]);
    expect(await idsOf(null, 1, 1)).toEqual(["s1"]);
    expect(await idsOf(ALICE, 10, 0)).toEqual(["s2", "s0", "s"]);
  });
});
