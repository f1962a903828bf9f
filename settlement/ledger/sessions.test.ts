import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ledger } from "./ledger.ts";
import { backends, type Store } from "./testing/backends.ts";
import { ALICE, BOB, HASHES, leaseOf, POLICY, planned, toolOf, usdc } from "./testing/fixtures.ts";

const HOUR_MS = 3_600_000;

describe.each(backends)("sessions on $name", ({ create }) => {
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
    ledger.hold({ callId, sessionId: "s", toolId: toolOf(1), method: "quote", amount: usdc(amount) }, nowMs);
  const capture = (callId: string, nowMs = 2, policy = POLICY) =>
    ledger.capture({ callId, hashes: HASHES }, policy, nowMs);
  const sweep = (nowMs: number, holdTtlMs = HOUR_MS) => ledger.sweepSessions(POLICY, holdTtlMs, nowMs, 100);
  const dueAt = async (nowMs: number) =>
    (await ledger.duePayers(nowMs, 10)).reduce((sum, { charges }) => sum + charges, 0);

  it("the same session again is a duplicate, and a conflict with another payer or budget", async () => {
    const again = { id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: HOUR_MS + 5 };
    expect(await ledger.openSession(again, 5)).toMatchObject({ kind: "duplicate", session: { expiresAtMs: HOUR_MS } });
    expect(await ledger.openSession({ ...again, payer: BOB }, 5)).toEqual({ kind: "conflict" });
    expect(await ledger.openSession({ ...again, maxSpend: usdc(1) }, 5)).toEqual({ kind: "conflict" });
  });

  it("a hold reserves, a capture spends, a void gives back", async () => {
    expect(await hold("a")).toMatchObject({ kind: "held", session: { held: 100n, spent: 0n, methodPrice: 100n } });
    expect(await hold("b", 50)).toMatchObject({ kind: "held", session: { held: 150n, methodPrice: 50n } });
    expect(await ledger.exposures([ALICE])).toMatchObject([{ pending: 0n, held: 150n }]);
    expect(await capture("a")).toMatchObject({
      kind: "captured",
      session: { held: 50n, spent: 100n, pendingAccruedCount: 1, pendingAccrued: 100n },
    });
    expect(await ledger.void("b")).toMatchObject({ kind: "voided", session: { held: 0n, spent: 100n } });
    expect(await ledger.exposures([ALICE])).toMatchObject([{ pending: 100n, held: 0n }]);
    expect(await ledger.chargesOf({ callId: "a" })).toMatchObject([{ amount: 100n, hashes: HASHES, payer: ALICE }]);
    expect(await ledger.chargesOf({ callId: "b" })).toEqual([]);
  });

  it("the same hold again is a duplicate whatever became of it, and a conflict with other contents", async () => {
    await hold("a");
    expect(await hold("a")).toMatchObject({ kind: "duplicate", session: { held: 100n } });
    expect(await hold("a", 99)).toEqual({ kind: "conflict" });
    await capture("a");
    await ledger.closeSession("s", 3);
    expect(await hold("a")).toMatchObject({ kind: "duplicate", hold: { state: { kind: "captured" } } });
    expect(await ledger.session("s")).toMatchObject({ methodPrice: 100n, spent: 100n, held: 0n });
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
    expect(await ledger.session("s")).toMatchObject({ spent, held: 0n });
    expect(await ledger.totals()).toMatchObject({ accrued: spent });
  });

  it("what is not there is not found", async () => {
    expect(await capture("x")).toEqual({ kind: "hold_not_found" });
    expect(await ledger.void("x")).toEqual({ kind: "hold_not_found" });
    expect(await ledger.closeSession("x", 0)).toEqual({ kind: "session_not_found" });
    expect(await ledger.session("x")).toBeNull();
    const call = { callId: "a", sessionId: "x", toolId: toolOf(1), method: "m", amount: usdc(1) };
    expect(await ledger.hold(call, 0)).toEqual({ kind: "session_not_found" });
  });

  it("a thousand calls at once against the last cent never overrun the budget", async () => {
    await hold("first", 990);
    const answers = await Promise.all(Array.from({ length: 1_000 }, (_, i) => hold(`call ${i}`, 1)));
    expect(answers.filter(({ kind }) => kind === "held")).toHaveLength(10);
    expect(answers.filter(({ kind }) => kind === "session_budget_exceeded")).toHaveLength(990);
    expect(await ledger.session("s")).toMatchObject({ held: 1_000n, spent: 0n });
  });

  it("captures of a whole budget spend it exactly once", async () => {
    await Promise.all(Array.from({ length: 10 }, (_, i) => hold(`call ${i}`)));
    await Promise.all(Array.from({ length: 30 }, (_, i) => capture(`call ${i % 10}`)));
    expect(await ledger.session("s")).toMatchObject({ held: 0n, spent: 1_000n, pendingAccruedCount: 10 });
    expect(await ledger.totals()).toMatchObject({ accrued: 1_000n });
  });

  it("a free call is held and captured without a charge", async () => {
    expect(await hold("a", 0)).toMatchObject({ kind: "held" });
    expect(await capture("a")).toMatchObject({ kind: "captured", session: { pendingAccruedCount: 0 } });
    expect(await ledger.chargesOf({ callId: "a" })).toEqual([]);
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
    expect(await ledger.session("s")).toMatchObject({ status: "expired", pendingAccruedCount: 0 });
    expect(await hold("b", 100, HOUR_MS)).toMatchObject({ kind: "session_expired" });
    expect(await dueAt(HOUR_MS)).toBe(1);
    expect(await ledger.closeSession("s", HOUR_MS)).toMatchObject({ kind: "closed", session: { status: "expired" } });
  });

  it("a hold that got too old is voided and cannot be captured any more", async () => {
    await hold("a", 100, 10);
    await hold("b", 100, 20);
    expect(await sweep(110, 100)).toEqual({ expired: 0, voided: 1, flushed: 0 });
    expect(await capture("a")).toMatchObject({ kind: "voided", session: { held: 100n } });
    expect(await capture("b")).toMatchObject({ kind: "captured" });
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
    expect(await ledger.session("s")).toMatchObject({ status: "open", pendingAccruedCount: 0 });
  });

  it("a charge that is batched by age before its session is flushed is no longer counted by the session", async () => {
    await hold("a");
    await hold("b");
    await capture("a", 10);
    await capture("b", 20);
    const lease = await leaseOf(ledger);
    expect(await planned(ledger, lease, [ALICE], 10 + POLICY.maxAgeMs)).not.toBeNull();
    expect(await ledger.session("s")).toMatchObject({ pendingAccruedCount: 1, pendingAccrued: 100n });
    expect(await sweep(20 + POLICY.maxAgeMs)).toMatchObject({ flushed: 1 });
  });
});
