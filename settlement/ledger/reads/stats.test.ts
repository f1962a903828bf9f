import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import {
  ALICE,
  BOB,
  HASHES,
  INSURANCE,
  leaseOf,
  outcomeOf,
  POLICY,
  RETRY,
  RICH,
  settled,
  toolOf,
  turnOf,
  usdc,
} from "../testing/fixtures.ts";

const TURN = 120_000n;

describe.each(ledgers)("stats on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterEach(() => store.remove());

  const change = async (statement: string) => {
    const database = store.database();
    await database.transaction(async (sql) => void (await sql.run(statement)), { repeatable: false });
    await database.close();
  };

  it("what happened is found in the step in which it happened, and empty steps are there", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("first"), 12_000);
    await ledger.recordTurn(turnOf("second", { outcome: "failed" }), 19_999);
    await settled(ledger, lease, [ALICE], outcomeOf(), 42_000);

    const line = await ledger.readTimeline({ fromMs: 10_000, toMs: 50_000, stepMs: 10_000 });
    expect(line.map(({ atMs }) => atMs)).toEqual([10_000, 20_000, 30_000, 40_000]);
    expect(line[0]).toMatchObject({
      accrued: 2n * TURN,
      voided: 100_000n,
      accruedCharges: 4,
      settled: 0n,
      gasUsed: 0n,
    });
    expect(line[1]).toMatchObject({ accrued: 0n, settled: 0n, settledCharges: 0 });
    // The first turn's tool and model, and the model of the turn that failed.
    expect(line[3]).toMatchObject({ accrued: 0n, settled: TURN + 20_000n, settledCharges: 3, gasUsed: 100_000n });
    expect(line[3]?.latencyMs).toBe(30_000n + 30_000n + 22_001n);
  });

  it("longer steps add up the shorter ones and begin at whole multiples of their length", async () => {
    for (const atMs of [5_000, 15_000, 61_000]) await ledger.recordTurn(turnOf(`at ${atMs}`), atMs);
    const line = await ledger.readTimeline({ fromMs: 31_000, toMs: 90_000, stepMs: 60_000 });
    expect(line.map(({ atMs, accruedCharges }) => [atMs, accruedCharges])).toEqual([
      [0, 4],
      [60_000, 2],
    ]);
  });

  it.each([
    ["no step", { fromMs: 0, toMs: 10, stepMs: 0 }],
    ["a step of no whole multiple", { fromMs: 0, toMs: 10, stepMs: 15_000 }],
    ["an end before the beginning", { fromMs: 10, toMs: 0, stepMs: 10_000 }],
    ["too many steps", { fromMs: 0, toMs: 10_010_000, stepMs: 10_000 }],
  ])("a time line with %s is refused", async (_, query) => {
    await expect(ledger.readTimeline(query)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("refused and absorbed charges are counted as such", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("refused"), 0);
    const refused = [{ chargedTo: ALICE, toolId: toolOf(1), amount: usdc(100_000), reason: "unlisted" as const }];
    await settled(ledger, lease, [ALICE], outcomeOf({ refused }), 1_000);
    await ledger.recordTurn(turnOf("absorbed", { payer: BOB }), 2_000);
    const failed = [{ chargedTo: BOB, amount: usdc(TURN), reason: "balance" as const }];
    let nowMs = 2_000;
    for (let attempt = 0; attempt < RETRY.maxAttempts; attempt += 1) {
      nowMs += 10_000;
      await settled(ledger, lease, [BOB], outcomeOf({ failed }), nowMs);
    }
    await settled(ledger, lease, [INSURANCE], outcomeOf(), nowMs);

    expect(await ledger.readTotals()).toMatchObject({
      accrued: 2n * TURN,
      settled: 20_000n,
      refused: 100_000n,
      absorbed: TURN,
    });
    expect(await ledger.audit()).toEqual([]);
    const [step] = await ledger.readTimeline({ fromMs: nowMs, toMs: nowMs + 1, stepMs: 10_000 });
    expect(step).toMatchObject({ absorbed: TURN, settledCharges: 2 });
  });

  it("processes that add to different shards add up", async () => {
    const other = await store.open({ shard: 7 });
    await Promise.all([ledger.recordTurn(turnOf("one"), 0), other.recordTurn(turnOf("two"), 0)]);
    expect(await ledger.readTotals()).toMatchObject({ accrued: 2n * TURN });
    expect(await ledger.readTimeline({ fromMs: 0, toMs: 1, stepMs: 10_000 })).toMatchObject([{ accrued: 2n * TURN }]);
  });

  it("a sum that is not what the charges add up to is found by the audit", async () => {
    await ledger.recordTurn(turnOf("t"), 0);
    await change("UPDATE totals SET settled = 1");
    expect(await ledger.audit()).toEqual(["total settled is 1 and should be 0"]);
  });

  it("a counter of somebody is found by the audit if it is not what the rows add up to, or is not there", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("paid"), 0);
    await settled(ledger, lease, [ALICE], outcomeOf(), 1);
    await ledger.recordTurn(turnOf("waits", { payer: BOB }), 2);
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 99 }, 2);
    const funds = { ...RICH, atBlock: 1_000n };
    for (const callId of ["captured", "held"]) {
      await ledger.hold({ callId, sessionId: "s", toolId: toolOf(1), method: "quote", amount: usdc(10) }, funds, 2);
    }
    await ledger.capture({ callId: "captured", hashes: HASHES }, POLICY, 2);
    expect(await ledger.audit()).toEqual([]);
    const damages: [change: string, found: string, undo: string][] = [
      [
        "payers SET settled = 120001 WHERE settled = 120000",
        `${ALICE} settled is 120001 and should be 120000`,
        "payers SET settled = 120000 WHERE settled = 120001",
      ],
      [
        "payers SET debt = 5 WHERE payer = '0x1'",
        `0x1 debt is 5 and should be 0`,
        "payers SET debt = 0 WHERE payer = '0x1'",
      ],
      [
        "payers SET pending = 0 WHERE pending = 120000",
        `${BOB} pending is 0 and should be 120000`,
        `payers SET pending = 120000 WHERE payer = '${BOB}'`,
      ],
      [
        "payers SET held = 1 WHERE held = 10",
        `${ALICE} held is 1 and should be 10`,
        "payers SET held = 10 WHERE held = 1",
      ],
      ["sessions SET spent = 11", "s spent is 11 and should be 10", "sessions SET spent = 10"],
      ["sessions SET held = 0", "s held is 0 and should be 10", "sessions SET held = 10"],
      ["sessions SET waiting_count = 2", "s waiting_count is 2 and should be 1", "sessions SET waiting_count = 1"],
      [
        "due_accounts SET charges = 7 WHERE charges = 2",
        `${BOB} charges is 7 and should be 2`,
        "due_accounts SET charges = 2 WHERE charges = 7",
      ],
      [
        "payers SET payer = '0x2' WHERE settled > 0",
        `${ALICE} settled is 0 and should be 120000`,
        `payers SET payer = '${ALICE}' WHERE settled > 0`,
      ],
    ];
    await change("INSERT INTO payers (payer, pending, held, debt, taken_at_block) VALUES ('0x1', 0, 0, 0, 0)");
    for (const [damage, found, undo] of damages) {
      await change(`UPDATE ${damage}`);
      expect(await ledger.audit(), damage).toContain(found);
      await change(`UPDATE ${undo}`);
      expect(await ledger.audit(), undo).toEqual([]);
    }
  });

  it("sums that outgrow a double are still read, to the unit", async () => {
    await ledger.recordTurn(turnOf("t"), 0);
    const vast = 2n ** 60n + 1n;
    for (const table of ["totals", "stats"])
      await change(`UPDATE ${table} SET latency_ms = ${vast}, gas_used = ${vast}`);
    const [step] = await ledger.readTimeline({ fromMs: 0, toMs: 1, stepMs: 10_000 });
    expect(step).toMatchObject({ latencyMs: vast, gasUsed: vast });
    expect(await ledger.readTotals()).toMatchObject({ accrued: TURN });
  });

  it("old steps are forgotten, oldest first, and the sums stay", async () => {
    for (const atMs of [0, 10_000, 20_000, 30_000]) await ledger.recordTurn(turnOf(`at ${atMs}`), atMs);
    expect(await ledger.forgetStats(30_000, 2)).toBe(2);
    expect(await ledger.forgetStats(30_000, 2)).toBe(1);
    expect(await ledger.forgetStats(30_000, 2)).toBe(0);
    const line = await ledger.readTimeline({ fromMs: 0, toMs: 40_000, stepMs: 10_000 });
    expect(line.map(({ accrued }) => accrued)).toEqual([0n, 0n, 0n, TURN]);
    expect(await ledger.readTotals()).toMatchObject({ accrued: 4n * TURN });
  });
});
