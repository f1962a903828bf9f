import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chargeIdOf, chargeIdOfCall } from "../../domain/charges/charge.ts";
import type { Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import {
  ALICE,
  accountOf,
  BOB,
  HASHES,
  hashOf,
  INSURANCE,
  inclusionAt,
  leaseOf,
  netOf,
  OPERATOR,
  outcomeOf,
  POLICY,
  planned,
  RETRY,
  RICH,
  ROUTER,
  settled,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../testing/fixtures.ts";
import { createMemoryFolder } from "../testing/memoryFolder.ts";
import { openArchiveFolder } from "./folder.ts";
import { turnName } from "./names.ts";

const DAY = 24 * 60 * 60 * 1_000;
const SMALL = { chargesPerFile: 8, chargesPerBlock: 3 };
const LATER = 100 * DAY;

// Everything that is finished before a time leaves, file by file.
async function archiveAll(ledger: Ledger, beforeMs = LATER, limits = SMALL): Promise<number[]> {
  const numbers: number[] = [];
  for (;;) {
    const number = await ledger.startArchive(beforeMs, LATER, limits);
    if (number === null) return numbers;
    numbers.push(number);
    await moveAll(ledger, number);
  }
}

async function moveAll(ledger: Ledger, number: number): Promise<string> {
  for (;;) {
    const moved = await ledger.moveArchived(number);
    if (moved.kind !== "moved" || moved.left === 0) return moved.kind;
  }
}

async function restoreAll(ledger: Ledger, number: number): Promise<void> {
  expect(await ledger.startRestore(number)).toMatchObject({ kind: "restoring" });
  for (;;) {
    const restored = await ledger.restoreArchived(number);
    if (restored.kind !== "restored" || restored.left === 0) return;
  }
}

describe.each(ledgers)("the archive on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  const folder = createMemoryFolder();

  beforeEach(async () => {
    store = await create();
    folder.files.clear();
    ledger = await store.open({ archive: folder });
  });
  afterEach(() => store.remove());

  const rowsOf = async (table: string) => {
    const database = store.database();
    const rows = await database.read.all(`SELECT * FROM ${table}`);
    await database.close();
    const spelled = rows.map((row) =>
      JSON.stringify(Object.entries(row).sort(), (_, value) => (typeof value === "bigint" ? `${value}n` : value)),
    );
    return spelled.sort();
  };
  const TABLES = [
    "turns",
    "holds",
    "charges",
    "failures",
    "batches",
    "receipts",
    "submissions",
    "broadcasts",
    "sessions",
    "totals",
  ];
  const everything = async () =>
    Object.fromEntries(await Promise.all(TABLES.map(async (table) => [table, await rowsOf(table)] as const)));
  const countOf = async (table: string) => (await rowsOf(table)).length;

  // A year in small: turns, a failed turn, a turn that cost nothing, a session with calls of every ending, a refused line, a payer
  // who could not pay once, and one whose debt the platform bears.
  async function liveThrough(): Promise<void> {
    const lease = await leaseOf(ledger);
    for (let i = 0; i < 5; i++) await ledger.recordTurn(turnOf(`turn ${i}`), 10 + i);
    await ledger.recordTurn(turnOf("failed", { outcome: "failed", modelCost: usdc(0) }), 20);
    await ledger.recordTurn(turnOf("free", { modelCost: usdc(0), tools: [] }), 21);
    await ledger.recordTurn(turnOf("of bob", { payer: BOB }), 22);
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000 }, 23);
    for (const [callId, price] of [
      ["captured", 100],
      ["voided", 100],
      ["without price", 0],
    ] as const) {
      const call = { callId, sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(price) };
      await ledger.hold(call, RICH, 24);
    }
    await ledger.capture({ callId: "captured", hashes: HASHES }, POLICY, 25);
    await ledger.capture({ callId: "without price", hashes: HASHES }, POLICY, 25);
    await ledger.void("voided");
    await ledger.closeSession("s", 26);
    await settled(ledger, lease, [ALICE], outcomeOf(), 30);
    const failed = [{ chargedTo: BOB, amount: usdc(0), reason: "balance" as const }];
    await settled(ledger, lease, [BOB], outcomeOf({ failed }), 31);
    const refused = [{ chargedTo: BOB, toolId: toolOf(1), amount: usdc(0), reason: "under_staked" as const }];
    await settled(ledger, lease, [BOB], outcomeOf({ refused }), 31 + 2_000);
    await ledger.recordTurn(turnOf("in debt", { payer: accountOf(7) }), 40);
    const retry = { ...RETRY, maxAttempts: 1 };
    const net = netOf(() => "allowance");
    await ledger.planBatch(lease, { accounts: [accountOf(7)], maxCharges: 9, router: ROUTER, net, retry }, 41);
    await settled(ledger, lease, [INSURANCE], outcomeOf(), 42);
  }

  it("a call leaves with the part of it that was paid, and the rest is found, settled and archived after it", async () => {
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000 }, 1);
    await ledger.hold({ callId: "c", sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(100) }, RICH, 2);
    await ledger.capture({ callId: "c", hashes: HASHES }, POLICY, 3);
    const found = { batchId: hashOf("theft"), operator: OPERATOR, router: ROUTER, calldata: "0x01" as const, rows: 1 };
    const taken = [{ chargedTo: ALICE, toolId: toolOf(1), amount: usdc(30) }];
    const outcome = outcomeOf({ charged: usdc(30) });
    await ledger.adoptBatch({ ...found, inclusion: inclusionAt(5n), outcome, taken, otherRows: false }, 10);
    const before = await everything();
    const numbers = await archiveAll(ledger);
    expect(await countOf("holds")).toBe(0);
    expect(await ledger.listChargesOf({ callId: "c" })).toMatchObject([{ amount: 70n, state: { kind: "accrued" } }]);
    expect(await ledger.capture({ callId: "c", hashes: HASHES }, POLICY, 20)).toMatchObject({ kind: "duplicate" });
    expect(await ledger.audit()).toEqual([]);
    for (const number of numbers.reverse()) await restoreAll(ledger, number);
    expect(await everything()).toEqual(before);
    await archiveAll(ledger);
    const lease = await leaseOf(ledger);
    await ledger.setFence(lease, 1, 0);
    await ledger.removeFence(lease, 1);
    await settled(ledger, lease, [ALICE], outcomeOf(), 100_000);
    await archiveAll(ledger);
    expect(await countOf("charges")).toBe(0);
    expect(await ledger.audit()).toEqual([]);
    expect(await ledger.readTotals()).toMatchObject({ accrued: 100n, settled: 100n, voided: 0n });
  });

  it("what is final and old leaves, is counted, and is found again by every name", async () => {
    await liveThrough();
    const lease = await leaseOf(ledger);
    const [paidBatch, batchId] = (await ledger.listBatches(10, 0)).toReversed().map((batch) => batch.batchId);
    const before = {
      charge: await ledger.findCharge(chargeIdOf({ kind: "turn", turnId: "of bob" }, { kind: "model" })),
      turn: await ledger.listChargesOf({ turnId: "turn 3" }),
      call: await ledger.listChargesOf({ callId: "captured" }),
      hold: await ledger.findHold("voided"),
      failures: await ledger.listFailures(chargeIdOf({ kind: "turn", turnId: "of bob" }, { kind: "model" })),
      receipts: await ledger.listReceipts(batchId ?? "0x"),
      row: await ledger.listChargesOfRow(paidBatch ?? "0x", ALICE),
      submission: await ledger.findSubmission(batchId ?? "0x"),
      statement: await ledger.listChargesOfPayer(ALICE, { fromMs: 0, toMs: LATER, after: null, limit: 100 }),
      byTool: await ledger.readSettledByTool(),
      byAccount: await ledger.readSettledByAccount(),
      totals: await ledger.readTotals(),
    };
    expect(before.failures).toHaveLength(1);
    expect(before.receipts).not.toHaveLength(0);
    expect(before.row).not.toHaveLength(0);
    // Something that is not final yet, and something that is too new.
    await ledger.recordTurn(turnOf("on its way"), 50);
    await submitted(ledger, lease, [ALICE], 51);
    await ledger.recordTurn(turnOf("new", { payer: BOB }), LATER);
    await settled(ledger, lease, [BOB], outcomeOf(), LATER);

    const archives = await archiveAll(ledger);

    expect(archives.length).toBeGreaterThan(1);
    expect(await ledger.audit()).toEqual([]);
    // What is on its way, what is new, and the debt, of two charges each.
    expect(await countOf("charges")).toBe(6);
    expect(await countOf("holds")).toBe(0);
    expect(await countOf("turns")).toBe(3);
    expect(await countOf("failures")).toBe(2);
    expect({
      charge: await ledger.findCharge(chargeIdOf({ kind: "turn", turnId: "of bob" }, { kind: "model" })),
      turn: await ledger.listChargesOf({ turnId: "turn 3" }),
      call: await ledger.listChargesOf({ callId: "captured" }),
      hold: await ledger.findHold("voided"),
      failures: await ledger.listFailures(chargeIdOf({ kind: "turn", turnId: "of bob" }, { kind: "model" })),
      receipts: await ledger.listReceipts(batchId ?? "0x"),
      row: (await ledger.listChargesOfRow(paidBatch ?? "0x", ALICE)).sort((a, b) => (a.id < b.id ? -1 : 1)),
      submission: await ledger.findSubmission(batchId ?? "0x"),
      statement: (await ledger.listChargesOfPayer(ALICE, { fromMs: 0, toMs: 50, after: null, limit: 100 })).slice(),
      byTool: before.byTool,
      byAccount: before.byAccount,
      totals: before.totals,
    }).toEqual(before);
    expect(await ledger.findCharge(chargeIdOf({ kind: "turn", turnId: "nobody's" }, { kind: "model" }))).toBeNull();
    // A debt is found, and repaid, where it was.
    expect(await ledger.clearDebt(accountOf(7))).toBe(120_000n);
    expect(await ledger.audit()).toEqual([]);
  });

  it("receipts outlive all that is forgotten", async () => {
    await liveThrough();
    const [batchId = "0x"] = (await ledger.listBatches(10, 0)).toReversed().map((batch) => batch.batchId);
    const before = {
      receipts: await ledger.listReceipts(batchId),
      charges: await ledger.listChargesOfRow(batchId, ALICE),
    };
    expect(before.charges).not.toHaveLength(0);
    await archiveAll(ledger);
    await ledger.forgetAnswers(Number.MAX_SAFE_INTEGER, 1_000);
    await ledger.forgetStats(Number.MAX_SAFE_INTEGER, 1_000);
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect({
      receipts: await ledger.listReceipts(batchId),
      charges: (await ledger.listChargesOfRow(batchId, ALICE)).sort(byId),
    }).toEqual(before);
  });

  it("sums by tool and account are those of the tables and the archive together", async () => {
    await liveThrough();
    const before = [await ledger.readSettledByTool(), await ledger.readSettledByAccount(), await ledger.readTotals()];
    await archiveAll(ledger);
    expect([await ledger.readSettledByTool(), await ledger.readSettledByAccount(), await ledger.readTotals()]).toEqual(
      before,
    );
  });

  it("what was archived and is delivered again is answered as before, and never charged again", async () => {
    await liveThrough();
    await archiveAll(ledger);
    const { accrued } = await ledger.readTotals();
    const turns = await countOf("turns");
    // Also if it comes several times at once.
    const again = await Promise.all([1, 2, 3].map(() => ledger.recordTurn(turnOf("turn 1"), LATER)));
    expect(again.map(({ kind }) => kind)).toEqual(["duplicate", "duplicate", "duplicate"]);
    expect(await ledger.recordTurn(turnOf("turn 1", { modelCost: usdc(1) }), LATER)).toEqual({ kind: "conflict" });
    expect(await ledger.recordTurn(turnOf("free", { modelCost: usdc(0), tools: [] }), LATER)).toMatchObject({
      kind: "duplicate",
    });
    const call = { sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(100) };
    for (const callId of ["captured", "voided"]) {
      expect(await ledger.hold({ ...call, callId }, RICH, LATER)).toMatchObject({ kind: "duplicate" });
    }
    expect(await ledger.hold({ ...call, callId: "captured", amount: usdc(7) }, RICH, LATER)).toEqual({
      kind: "conflict",
    });
    expect(await ledger.capture({ callId: "captured", hashes: HASHES }, POLICY, LATER)).toMatchObject({
      kind: "duplicate",
      chargeId: chargeIdOfCall({ ...call, callId: "captured" }),
    });
    expect(await ledger.capture({ callId: "voided", hashes: HASHES }, POLICY, LATER)).toMatchObject({ kind: "voided" });
    expect(await ledger.void("captured")).toMatchObject({ kind: "captured" });
    expect(await ledger.void("nobody's")).toEqual({ kind: "hold_not_found" });
    expect((await ledger.readTotals()).accrued).toBe(accrued);
    expect(await countOf("turns")).toBe(turns);
    expect(await ledger.audit()).toEqual([]);
  });

  it("without its folder nothing that may be in the archive is charged", async () => {
    await liveThrough();
    await archiveAll(ledger);
    const turns = await countOf("turns");
    const blind = await store.open();
    await expect(blind.recordTurn(turnOf("turn 1"), LATER)).rejects.toMatchObject({ code: "archive_unavailable" });
    expect(await countOf("turns")).toBe(turns);
    expect(await blind.recordTurn(turnOf("another"), LATER)).toMatchObject({ kind: "recorded" });
    expect(await blind.audit()).toEqual([]);
  });

  it("two names with one fingerprint are told apart by the file", async () => {
    await liveThrough();
    await archiveAll(ledger);
    const database = store.database();
    const [row] = await database.read.all("SELECT place FROM archived_names LIMIT 1");
    await database.transaction(
      async (sql) => {
        await sql.run("INSERT INTO archived_names (fingerprint, place) VALUES ($1, $2)", [
          turnName("unheard of"),
          row?.place ?? 0n,
        ]);
      },
      { repeatable: true },
    );
    await database.close();
    expect(await ledger.recordTurn(turnOf("unheard of"), LATER)).toMatchObject({ kind: "recorded" });
    expect(await ledger.recordTurn(turnOf("unheard of"), LATER)).toMatchObject({ kind: "duplicate" });
    expect(await ledger.audit()).toEqual([]);
  });

  it("everything comes back as it was, row by row", async () => {
    await liveThrough();
    const before = await everything();
    const archives = await archiveAll(ledger);
    expect(await everything()).not.toEqual(before);
    for (const number of archives.toReversed()) await restoreAll(ledger, number);
    expect(await everything()).toEqual(before);
    expect(await countOf("archives")).toBe(0);
    expect(await countOf("archived_names")).toBe(0);
    expect(await ledger.audit()).toEqual([]);
    // And leaves again.
    expect(await archiveAll(ledger)).toEqual(archives);
    expect(await ledger.audit()).toEqual([]);
  });

  it("an archive that was cut off goes on where it stopped, and is counted right at every moment", async () => {
    await liveThrough();
    const statement = { fromMs: 0, toMs: LATER, after: null, limit: 100 };
    const all = await ledger.listChargesOfPayer(ALICE, statement);
    const number = (await ledger.startArchive(LATER, LATER, SMALL)) ?? 0;
    for (let left = 1; left > 0; ) {
      // A new process each time.
      const successor = await store.open({ archive: folder });
      expect(await successor.findUnfinishedArchive()).toMatchObject({ number, state: "moving" });
      // Nobody begins another one meanwhile.
      expect(await successor.startArchive(LATER, LATER, SMALL)).toBeNull();
      const moved = await successor.moveArchived(number);
      left = moved.kind === "moved" ? moved.left : 0;
      expect(await successor.audit()).toEqual([]);
      expect(await successor.listChargesOfPayer(ALICE, statement)).toEqual(all);
      expect(await successor.recordTurn(turnOf("turn 0"), LATER)).toMatchObject({ kind: "duplicate" });
      await successor.close();
    }
    expect(await ledger.findUnfinishedArchive()).toBeNull();
    expect(await ledger.moveArchived(number)).toEqual({ kind: "elsewhere" });
  });

  it("others run while a block leaves, and while it comes back", async () => {
    await liveThrough();
    const number = await ledger.startArchive(LATER, LATER, SMALL);
    if (number === null) throw new Error("nothing is old");
    const looksWhile = async (work: () => Promise<unknown>) => {
      let [looks, stopped] = [0, false];
      const look = () => {
        looks += 1;
        if (!stopped) setImmediate(look);
      };
      setImmediate(look);
      await work();
      stopped = true;
      return looks;
    };
    expect(await looksWhile(() => ledger.moveArchived(number))).toBeGreaterThan(3);
    await ledger.startRestore(number);
    expect(await looksWhile(() => ledger.restoreArchived(number))).toBeGreaterThan(1);
  });

  it("two who archive at the same time move each block once", async () => {
    await liveThrough();
    const other = await store.open({ archive: folder });
    const started = await Promise.all([
      ledger.startArchive(LATER, LATER, SMALL),
      other.startArchive(LATER, LATER, SMALL),
    ]);
    expect(started.filter((number) => number !== null)).toHaveLength(1);
    const number = started.find((one) => one !== null) ?? 0;
    const moved = await Promise.all([moveAll(ledger, number), moveAll(other, number)]);
    expect(moved.every((kind) => kind === "moved" || kind === "elsewhere")).toBe(true);
    while ((await ledger.findUnfinishedArchive()) !== null) await ledger.moveArchived(number);
    expect(await ledger.audit()).toEqual([]);
    expect((await ledger.findArchive(number))?.charges).toBe(8);
  });

  it("what changes after it was written stays in the ledger", async () => {
    await liveThrough();
    const number = (await ledger.startArchive(LATER, LATER, { chargesPerFile: 100, chargesPerBlock: 2 })) ?? 0;
    const { blocks = 0 } = (await ledger.findArchive(number)) ?? {};
    await ledger.moveArchived(number);
    // The chain undoes a final block, and a person puts the batch on its way again.
    const [first] = (await ledger.listBatches(10, 0)).toReversed();
    expect(await ledger.reopen(first?.batchId ?? "0x", LATER)).toMatchObject({ kind: "reopened" });
    expect(await moveAll(ledger, number)).toBe("cut");
    expect((await ledger.findArchive(number))?.blocks).toBeLessThan(blocks);
    expect(await ledger.audit()).toEqual([]);
    await archiveAll(ledger);
    expect(await ledger.audit()).toEqual([]);
    expect((await ledger.findSubmission(first?.batchId ?? "0x"))?.state.kind).toBe("submitted");
  });

  it("a batch whose charges have left is not put on its way again without them", async () => {
    await liveThrough();
    const [first] = (await ledger.listBatches(10, 0)).toReversed();
    await ledger.startArchive(LATER, LATER, SMALL);
    await ledger.moveArchived(1);
    expect(await ledger.reopen(first?.batchId ?? "0x", LATER)).toEqual({ kind: "archived" });
    expect(await ledger.audit()).toEqual([]);
  });

  it("a charge that was paid in part leaves part by part, and is one delivery all the time", async () => {
    const tools = [{ toolId: toolOf(1), amount: usdc(100), calls: 1 }];
    const turn = turnOf("divided", { modelCost: usdc(0), tools });
    await ledger.recordTurn(turn, 10);
    await ledger.openSession({ id: "s", payer: BOB, maxSpend: usdc(1_000), expiresAtMs: 1_000 }, 11);
    const call = { callId: "c", sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(100) };
    await ledger.hold(call, RICH, 12);
    await ledger.capture({ callId: "c", hashes: HASHES }, POLICY, 13);
    await ledger.adoptBatch(
      {
        batchId: hashOf("taken in"),
        operator: OPERATOR,
        router: ROUTER,
        calldata: "0x01",
        rows: 2,
        inclusion: inclusionAt(5n),
        outcome: outcomeOf({ charged: usdc(60) }),
        taken: [ALICE, BOB].map((chargedTo) => ({ chargedTo, toolId: toolOf(1), amount: usdc(30) })),
        otherRows: false,
      },
      20,
    );
    const before = await everything();
    const amounts = async () => ({
      ofTurn: (await ledger.listChargesOf({ turnId: "divided" })).map(({ amount }) => amount).sort(),
      ofCall: (await ledger.listChargesOf({ callId: "c" })).map(({ amount }) => amount),
      ofAlice: (await ledger.listChargesOfPayer(ALICE, { fromMs: 0, toMs: 99, after: null, limit: 9 })).length,
    });
    const told = await amounts();
    const again = async () => {
      expect(await ledger.audit()).toEqual([]);
      expect(await amounts()).toEqual(told);
      expect(await ledger.recordTurn(turn, 30)).toMatchObject({ kind: "duplicate" });
      expect(await ledger.hold(call, RICH, 30)).toMatchObject({ kind: "duplicate" });
      expect(await ledger.capture({ callId: "c", hashes: HASHES }, POLICY, 30)).toMatchObject({ kind: "duplicate" });
    };
    await again();
    const first = await archiveAll(ledger);
    expect(await countOf("charges")).toBe(2);
    await again();
    for (const number of first.toReversed()) await restoreAll(ledger, number);
    expect(await everything()).toEqual(before);
    await archiveAll(ledger);
    const lease = await leaseOf(ledger);
    await ledger.setFence(lease, 1, 0);
    await ledger.removeFence(lease, 1);
    await settled(ledger, lease, [ALICE, BOB], outcomeOf({ charged: usdc(140) }), 60_014);
    await again();
    await archiveAll(ledger);
    expect(await countOf("charges")).toBe(0);
    await again();
  });

  it("a file is of one day, and has no more than its share", async () => {
    const lease = await leaseOf(ledger);
    for (let day = 0; day < 3; day++) {
      for (let i = 0; i < 5; i++) await ledger.recordTurn(turnOf(`${day} ${i}`), day * DAY + i);
    }
    await settled(ledger, lease, [ALICE], outcomeOf(), 3 * DAY);
    await archiveAll(ledger);
    const archives = (await ledger.listArchives(0, 100)).filter(({ fromMs }) => fromMs !== null);
    expect(archives.map(({ fromMs, charges }) => [Math.floor((fromMs ?? 0) / DAY), charges])).toEqual([
      [0, 8],
      [0, 2],
      [1, 8],
      [1, 2],
      [2, 8],
      [2, 2],
    ]);
    for (const { fromMs, toMs } of archives)
      expect(Math.floor((fromMs ?? 0) / DAY)).toBe(Math.floor((toMs ?? 0) / DAY));
  });

  it("a statement is the same page by page, wherever its lines are", async () => {
    const lease = await leaseOf(ledger);
    for (let i = 0; i < 12; i++) {
      await ledger.recordTurn(turnOf(`${i}`, { payer: accountOf(1 + (i % 3)) }), 100 + Math.floor(i / 2));
    }
    const query = { fromMs: 101, toMs: 106, limit: 3 };
    const pages = async () => {
      const lines: string[] = [];
      for (let after: { atMs: number; id: string } | null = null; ; ) {
        const page = await ledger.listChargesOfPayer(accountOf(2), { ...query, after });
        lines.push(...page.map(({ id }) => id));
        const last = page.at(-1);
        if (last === undefined) return lines;
        after = { atMs: last.accruedAtMs, id: last.id };
      }
    };
    const before = await pages();
    expect(before.length).toBeGreaterThan(4);
    await settled(ledger, lease, [1, 2, 3].map(accountOf), outcomeOf(), 200);
    const number = (await ledger.startArchive(LATER, LATER, SMALL)) ?? 0;
    for (let left = 1; left > 0; ) {
      const moved = await ledger.moveArchived(number);
      left = moved.kind === "moved" ? moved.left : 0;
      expect(await pages()).toEqual(before);
    }
    await archiveAll(ledger);
    expect(await pages()).toEqual(before);
  });

  it("an archive is verified byte by byte, and a damaged block is never taken for the truth", async () => {
    await liveThrough();
    const [number = 0] = await archiveAll(ledger);
    expect(await ledger.verifyArchive(number)).toBeNull();
    const { file = "" } = (await ledger.findArchive(number)) ?? {};
    const bytes = folder.files.get(file) ?? Buffer.alloc(0);
    bytes[Math.floor(bytes.length / 4)] = (bytes[Math.floor(bytes.length / 4)] ?? 0) ^ 0xff;
    const reader = await store.open({ archive: folder });
    expect(await reader.verifyArchive(number)).toContain("is not what was written");
    await reader.startRestore(number);
    const restoring = async () => {
      for (let left = 1; left > 0; ) {
        const restored = await reader.restoreArchived(number);
        left = restored.kind === "restored" ? restored.left : 0;
      }
    };
    await expect(restoring()).rejects.toMatchObject({ code: "archive_unavailable" });
    expect(await reader.audit()).toEqual([]);
    folder.files.delete(file);
    expect(await reader.verifyArchive(number)).toContain("is missing");
    expect(await reader.audit()).toEqual([expect.stringContaining(`archive ${number} is missing ${file}`)]);
  });

  it("a wait for finality is not the end of a charge", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("waits"), 1);
    await planned(ledger, lease, [ALICE], 2);
    expect(await archiveAll(ledger)).toEqual([]);
    expect(await ledger.listUnmined(OPERATOR)).toHaveLength(1);
  });
});

describe("the folder of an archive", () => {
  const path = () => join(mkdtempSync(join(tmpdir(), "archive-")), randomUUID());

  it("has whole files only, readable by their owner", async () => {
    const own = path();
    const folder = openArchiveFolder(own);
    expect(await folder.sizeOf("a")).toBeNull();
    await folder.write("a", [Buffer.from("hello "), Buffer.from("world")]);
    expect(readdirSync(own)).toEqual(["a"]);
    expect(statSync(join(own, "a")).mode & 0o777).toBe(0o600);
    expect(Buffer.from(await folder.read("a", 6, 5)).toString()).toBe("world");
    expect(Buffer.from(await folder.read("a", -5, 5)).toString()).toBe("world");
    expect(await folder.sizeOf("a")).toBe(11);
    rmSync(own, { recursive: true });
  });

  it("forgets what a dead process left half written, and nothing else", async () => {
    const own = path();
    const folder = openArchiveFolder(own);
    await folder.write("kept", [Buffer.from("1")]);
    // No process has this number.
    writeFileSync(join(own, "half.4194305.part"), "");
    writeFileSync(join(own, `running.${process.pid}.part`), "");
    await folder.sweep();
    expect(readdirSync(own).sort()).toEqual(["kept", `running.${process.pid}.part`]);
    rmSync(own, { recursive: true });
  });

  it("says which setting is wrong when a file is not there", async () => {
    await expect(openArchiveFolder(path()).read("missing", 0, 1)).rejects.toThrow("SETTLEMENT_ARCHIVE must name");
  });
});
