import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ledger } from "../../ledger.ts";
import { ledgers, type Store } from "../../testing/backends.ts";
import { ALICE, BOB, HASHES, leaseOf, POLICY, planned, RICH, toolOf, turnOf, usdc } from "../../testing/fixtures.ts";

const NOW_MS = 1_000_000;
const DAY_MS = 86_400_000;
const AHEAD_MS = NOW_MS + 30 * DAY_MS;

describe.each(ledgers)("what was accrued by a clock that was ahead, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterEach(() => store.remove());

  const bringForward = async () =>
    ledger.bringForward(await ledger.listLate(NOW_MS + 2 * DAY_MS, 10), NOW_MS + 2 * DAY_MS, NOW_MS);
  const dueNow = async () => (await ledger.listDuePayers(NOW_MS, 10)).map(({ chargedTo }) => chargedTo);

  it("is due now, and what waits for a day as it should goes on waiting", async () => {
    await ledger.recordTurn(turnOf("ahead"), AHEAD_MS);
    await ledger.recordTurn(turnOf("deferred", { payer: BOB }), NOW_MS + DAY_MS);
    expect(await dueNow()).toEqual([]);
    await bringForward();
    expect(await dueNow()).toEqual([ALICE]);
    expect(await ledger.audit()).toEqual([]);
    expect(await planned(ledger, await leaseOf(ledger), [ALICE], NOW_MS)).not.toBeNull();
  });

  it("is found beside what the same account owes at the right time, some accounts at a time", async () => {
    await ledger.recordTurn(turnOf("deferred", { payer: BOB }), NOW_MS + DAY_MS);
    await ledger.recordTurn(turnOf("ahead"), AHEAD_MS);
    await ledger.recordTurn(turnOf("now"), NOW_MS);
    const latestMs = NOW_MS + 2 * DAY_MS;
    expect(await ledger.listLate(latestMs, 10)).toEqual([]);
    const [first = "0x", second = "0x"] = [ALICE, BOB].sort();
    const found = await ledger.listPartlyLate(latestMs, null, 1);
    const others = await ledger.listPartlyLate(latestMs, first, 1);
    expect([found.last, others.last]).toEqual([first, second]);
    expect([...found.late, ...others.late]).toEqual([ALICE]);
    expect(await ledger.listPartlyLate(latestMs, second, 1)).toEqual({ late: [], last: null });
    await ledger.bringForward([ALICE], latestMs, NOW_MS);
    expect(await ledger.listPartlyLate(latestMs, null, 10)).toMatchObject({ late: [] });
    expect(await planned(ledger, await leaseOf(ledger), [ALICE], NOW_MS)).not.toBeNull();
    expect(await ledger.listDuePayers(AHEAD_MS, 10)).toMatchObject([{ chargedTo: BOB }]);
    expect(await ledger.audit()).toEqual([]);
  });

  it("is due now if it waits in its session, too, which then counts it no more", async () => {
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(100), expiresAtMs: AHEAD_MS + DAY_MS }, AHEAD_MS);
    const call = { callId: "c", sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(10) };
    await ledger.hold(call, RICH, AHEAD_MS);
    await ledger.capture({ callId: "c", hashes: HASHES }, POLICY, AHEAD_MS);
    await bringForward();
    expect(await planned(ledger, await leaseOf(ledger), [ALICE], NOW_MS)).not.toBeNull();
    expect(await ledger.audit()).toEqual([]);
  });
});
