import { expect, it } from "vitest";
import { createLedger } from "../createLedger.ts";
import type { Ledger } from "../ledger.ts";
import { backends } from "../testing/backends.ts";
import {
  ALICE,
  accountOf,
  BOB,
  HASHES,
  hashOf,
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
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../testing/fixtures.ts";
import type { Database, Param, Reader, Sql } from "./sql.ts";

// A few rows, whatever happens.
const SMALL = ["operators", "halts", "finalized_blocks", "homes", "totals", "token_implementations"];
// They have what is open, and no history.
const OF_WHAT_IS_OPEN = [
  "charges_waiting",
  "contests_open",
  "due_accounts_next",
  "holds_held",
  "sessions_open",
  "sessions_waiting",
  "sessions_waiting_of",
  "submissions_mined",
  "submissions_open",
  "submissions_unmined",
  "unexplained_payments_left",
];

// Enough to tell a walk through what waits from a look at a few rows of it.
const OTHERS = 2_000;
// Walked from its end, as far as a page goes.
const PAGED = ["batches_newest", "contests_newest"];

type Statement = { text: string; params: readonly Param[] };

// Notes every statement that passes.
function recording(database: Database, statements: Map<string, Statement>): Database {
  const noted = <T extends Reader>(reader: T): T => ({
    ...reader,
    all: (text: string, params: readonly Param[] = []) => {
      statements.set(text, { text, params });
      return reader.all(text, params);
    },
  });
  const notedSql = (sql: Sql): Sql => ({
    ...noted(sql),
    each: (text, params, read) => {
      statements.set(text, { text, params });
      return sql.each(text, params, read);
    },
    run: (text, params = []) => {
      statements.set(text, { text, params });
      return sql.run(text, params);
    },
    send: (text, params = []) => {
      statements.set(text, { text, params });
      sql.send(text, params);
    },
  });
  return {
    ...database,
    read: noted(database.read),
    transaction: (work, options) => database.transaction((sql, attempt) => work(notedSql(sql), attempt), options),
  };
}

// What every call, every tick and every page does, with all that can become of a charge.
async function settleAll(ledger: Ledger): Promise<void> {
  const lease = await leaseOf(ledger);
  await ledger.recordTurn(turnOf("alice"), 1);
  await ledger.recordTurn(turnOf("alice"), 1);
  await ledger.recordTurn(turnOf("bob", { payer: BOB }), 1);
  const terms = { credit: { base: usdc(10_000_000), growthBps: 0, max: usdc(10_000_000) }, prepaid: null };
  const listed = ["in a list", "in a list too"].map((id) => ({ turn: turnOf(id, { payer: BOB }), terms }));
  for (const { kind } of await ledger.recordTurns(listed, 1)) expect(kind).toBe("recorded");
  await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 9 }, 1);
  for (const callId of ["captured", "voided"]) {
    await ledger.hold({ callId, sessionId: "s", toolId: toolOf(1), method: "quote", amount: usdc(100) }, RICH, 1);
  }
  await ledger.capture({ callId: "captured", hashes: HASHES }, POLICY, 1);
  await ledger.capture({ callId: "captured", hashes: HASHES }, POLICY, 1);
  await ledger.void("voided");
  await ledger.closeSession("s", 2);
  await ledger.sweepSessions(POLICY, 1, 100_000, 10);
  await ledger.sweepTurnHolds(1, 100_000, 10);
  await ledger.forgetSessions(1, 10);
  await ledger.countOpenSessions(ALICE, 1, 10);
  await ledger.findSession("s");
  await ledger.findHold("captured");
  await ledger.readExposures([ALICE, BOB]);
  await ledger.readTotals();

  await ledger.listOperators();
  await ledger.readHalt();
  await ledger.readFinalized();
  await ledger.noteFinalized({ number: 1n, hash: hashOf("block") });
  await ledger.listDuePayers(3, 10);
  await ledger.listLate(50_000, 10);
  await ledger.listPartlyLate(50_000, ALICE, 10);
  await ledger.bringForward([ALICE, BOB], 50_000, 3);
  const signed = { payer: ALICE, id: 7n, maxSpend: usdc(9), validUntil: 9n, tools: [], signature: "0x01" as const };
  await ledger.keepBudget(signed, 1);
  await ledger.listBudgetsDue([ALICE, BOB]);
  const [row = null] = await ledger.listDueRows([ALICE], 3, 10);
  for (const budgetId of [null, 7n]) {
    const parts = [{ account: ALICE, row: row && { ...row, budgetId }, maxCharges: 9 }];
    const request = { accounts: [BOB], parts, maxCharges: 9, router: ROUTER, net: netOf(), retry: RETRY };
    const some = await ledger.planBatch(lease, request, 3);
    if (some !== null) await ledger.unplanBatch(lease, some.id, [], 0, 3);
  }
  const taken = await planned(ledger, lease, [ALICE], 3);
  if (taken !== null) await ledger.unplanBatch(lease, taken.id, [ALICE], 0, 3);
  const batchId = await submitted(ledger, lease, [ALICE, BOB], 4);
  const failed = [{ chargedTo: ALICE, amount: usdc(0), reason: "balance" as const }];
  const refused = [{ chargedTo: BOB, toolId: toolOf(1), amount: usdc(0), reason: "under_staked" as const }];
  const paid = [{ toolId: toolOf(2), payee: accountOf(9), amount: usdc(10), developerShare: usdc(9) }];
  const outcome = outcomeOf({ failed, refused, paid });
  await ledger.recordInclusion(lease, batchId, inclusionAt(2n), "success", outcome);
  await ledger.listUnmined(OPERATOR);
  await ledger.listMinedAbove(OPERATOR, 1n);
  await ledger.listMinedUpTo(OPERATOR, 2n);
  await ledger.listOpenSubmissions(OPERATOR, 10);
  await ledger.recordLoss(lease, batchId);
  await ledger.recordInclusion(lease, batchId, inclusionAt(2n), "success", outcome);
  await ledger.finalize(lease, batchId, outcome, RETRY, 5);
  await ledger.listOpenNonces(OPERATOR);
  await ledger.closeNonce(lease, batchId);
  const net = netOf(() => "allowance");
  await ledger.planBatch(lease, { accounts: [ALICE], maxCharges: 9, router: ROUTER, net, retry: RETRY }, 100_000);
  const again = await submitted(ledger, lease, [ALICE], 200_000);
  await ledger.findSubmission(again);
  await ledger.abandon(lease, again, 200_000);

  const contest = { batchId, account: ALICE, operator: OPERATOR, contester: BOB, charged: 1n, untilMs: 9, lines: [] };
  await ledger.noteContests([{ ...contest, blockNumber: 2n }], 5);
  await ledger.listOpenContests(OPERATOR, 10);
  const answer = { batchId, account: ALICE, court: ROUTER, calldata: "0x12", answers: 0 } as const;
  const plannedAnswer = await ledger.planAnswer(lease, answer, 5);
  if (plannedAnswer !== null) await ledger.dropAnswer(lease, plannedAnswer.id);
  await ledger.closeContest(lease, batchId, ALICE, "answered");
  await ledger.listContests(10, 0);
  await ledger.listChargesOfRow(batchId, ALICE);

  const page = { fromMs: 0, toMs: 300_000, after: { atMs: 1, id: hashOf("place") }, limit: 10 };
  await ledger.listChargesOf({ turnId: "alice" });
  await ledger.findBatchedCharge(hashOf("unknown"));
  await ledger.listChargesOfPayer(ALICE, page);
  await ledger.listNewestCharges(ALICE, page.after, 10);
  await ledger.listNewestCharges(null, page.after, 10);
  await ledger.listEarnings(accountOf(9), page);
  await ledger.listBatches(10, 0);
}

// Every line of a plan that reads a whole table, or a whole index of one, that grows with history. A row that is inserted has no
// children yet; SQLite plans to look for them, and does only while some row waits for its parent, which none ever does here.
function scansIn(text: string, plan: readonly string[]): string[] {
  const isForChildren = (line: string) => {
    const table = /^SCAN (\w+)$/.exec(line)?.[1];
    return text.startsWith("INSERT") && table !== undefined && !text.includes(table);
  };
  const isBounded = (line: string) =>
    [...SMALL, ...OF_WHAT_IS_OPEN, ...PAGED].some((name) => new RegExp(`\\b${name}\\b`).test(line));
  // What a statement brings along in VALUES is no table, and neither is the page that a part of it has made: its plan has lines of its own.
  const isBroughtAlong = (line: string) => {
    const name = /^SCAN (\w+)$/.exec(line)?.[1];
    return (
      name !== undefined &&
      new RegExp(
        `(\\(VALUES [^;]*| LIMIT \\$\\d+)\\) AS ${name}\\b|^WITH (${name} AS MATERIALIZED|RECURSIVE ${name})\\b`,
      ).test(text)
    );
  };
  return plan.filter((line, i) => {
    const scans = /^\s*(SCAN (?!CONSTANT|\d|\()|(->\s*)?Seq Scan on)/.test(line);
    const walks = /Index (Only )?Scan|Bitmap Index Scan/.test(line) && !/Index Cond/.test(plan[i + 1] ?? "");
    return (scans || walks) && !isBounded(line) && !isForChildren(line) && !isBroughtAlong(line);
  });
}

// In databases of its own: how the server reads a table depends on what was ever in it.
it.each(backends)(
  "no statement of a call, a tick or a page reads a table that grows from end to end, on $name",
  async ({ name, create }) => {
    const store = await create();
    try {
      const statements = new Map<string, Statement>();
      const ledger = await createLedger(recording(store.database(), statements));
      const others = Array.from({ length: OTHERS }, (_, i) => turnOf(`${i}`, { payer: accountOf(1_000 + (i % 100)) }));
      await Promise.all(others.map((turn) => ledger.recordTurn(turn, 1)));
      const sessions = others.map(({ id, payer }) => ({ id, payer, maxSpend: usdc(1_000), expiresAtMs: 1_000_000 }));
      await Promise.all(sessions.map((session) => ledger.openSession(session, 1)));
      statements.clear();
      await settleAll(ledger);
      expect(await ledger.audit()).toEqual([]);
      await ledger.close();

      const database = store.database();
      const found = await database.transaction(
        async (sql) => {
          // On tables as small as these PostgreSQL would read all of each; now it does only where it has no other way.
          if (name === "PostgreSQL") await sql.run("ANALYZE");
          for (const way of name === "PostgreSQL" ? ["seqscan", "hashjoin", "mergejoin"] : []) {
            await sql.run(`SET LOCAL enable_${way} = off`);
          }
          const scans: string[] = [];
          for (const { text, params } of statements.values()) {
            const planned = async (): Promise<string[]> => {
              const rows = await sql.all(`EXPLAIN ${name === "SQLite" ? "QUERY PLAN " : ""}${text}`, params);
              return scansIn(
                text,
                rows.map((row) => String(row.detail ?? row["QUERY PLAN"])),
              );
            };
            let found = await planned();
            // Of a few rows it may as well sort all; the index that has them in order is its other way.
            if (found.length > 0 && name === "PostgreSQL") {
              await sql.run("SET LOCAL enable_sort = off");
              found = await planned();
              await sql.run("SET LOCAL enable_sort = on");
            }
            for (const line of found) scans.push(`${line.trim()}: ${text.replaceAll(/\s+/g, " ")}`);
          }
          return scans;
        },
        { repeatable: false },
      );
      await database.close();
      expect(statements.size).toBeGreaterThan(40);
      expect(found).toEqual([]);
    } finally {
      await store.remove();
    }
  },
);
