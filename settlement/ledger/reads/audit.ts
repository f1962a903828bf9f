import type { BatchOutcome } from "../../domain/batch/batch.ts";
import { address, amount, hex, text } from "../database/decode.ts";
import type { Reader, Row } from "../database/sql.ts";
import { SUMS } from "../database/sums/stats.ts";
import { isOwed, isRefused } from "../submissions/adopt/takenOnChain.ts";
import { outcomeFromJson } from "../submissions/outcome/outcomeJson.ts";

// Computes from charges and holds what the verbs have counted along the way. A sentence for every sum, and every counter of a
// payer or a session, that is not what its charges and holds add up to: none, always.
//
// What grows with history, all who ever paid and all that was ever held, is compared in the database. Only what is open is read.
export function audit() {
  return async (sql: Reader): Promise<string[]> => {
    const own = await readOwn(sql);
    return [
      ...(await auditPayers(sql, own)),
      ...(await auditBudgets(sql, own)),
      ...(await auditDueAccounts(sql)),
      ...(await auditSessions(sql)),
      ...(await auditTotals(sql)),
      ...(await auditFailures(sql)),
    ];
  };
}

async function auditFailures(sql: Reader): Promise<string[]> {
  const [row = {}] = await sql.all(
    `SELECT (SELECT CAST(COALESCE(SUM(failures), 0) AS BIGINT) FROM failure_counts) AS counted,
       (SELECT COUNT(*) FROM failures) + (SELECT CAST(COALESCE(SUM(failures), 0) AS BIGINT) FROM archives) AS expected`,
  );
  return row.counted === row.expected ? [] : [`failures are ${row.counted} and should be ${row.expected}`];
}

async function auditTotals(sql: Reader): Promise<string[]> {
  const expected = new Map<string, bigint>();
  const add = (sum: string, by: bigint) => expected.set(sum, (expected.get(sum) ?? 0n) + by);
  const rows = await sql.all(
    `SELECT ${ENDING} AS ending, COUNT(*) AS charges, CAST(SUM(amount) AS BIGINT) AS amount
     FROM charges c LEFT JOIN submissions s ON s.id = c.batch_id
     GROUP BY ${ENDING}`,
  );
  for (const row of rows) {
    add("total accrued", amount(row));
    add("total accrued_charges", amount(row, "charges"));
    if (row.ending !== null) add(`total ${text(row, "ending")}`, amount(row));
  }
  // What has left for the archive, as each commit that moved some of it has counted it.
  const [archived = {}] = await sql.all(
    `SELECT ${["charges", "accrued", ...ENDINGS]
      .map((sum) => `CAST(COALESCE(SUM(${sum}), 0) AS BIGINT) AS ${sum}`)
      .join(", ")} FROM archives`,
  );
  add("total accrued_charges", amount(archived, "charges"));
  for (const sum of ["accrued", ...ENDINGS]) add(`total ${sum}`, amount(archived, sum));
  const counted = await sql.all(`SELECT 'total' AS name, ${SUMS} FROM totals`);
  return differences(counted, "name", ["accrued", "accrued_charges", ...ENDINGS], expected);
}

const ENDINGS = ["settled", "absorbed", "refused", "voided"];
const ENDING = `CASE WHEN c.state IN ('refused', 'voided') THEN c.state
  WHEN c.state = 'batched' AND s.state = 'final' AND c.charged_to = c.payer THEN 'settled'
  WHEN c.state = 'batched' AND s.state = 'final' THEN 'absorbed' END`;

// What is reserved for calls and for turns.
const HELD = `(SELECT payer, budget_id, amount FROM holds WHERE state = 'held'
  UNION ALL SELECT payer, budget_id, amount FROM turn_holds) AS held`;

// What payers' own charges come to, by payer, budget and what became of them: `pending` if they are owed and the chain has not
// taken them, `taken` if it has. Of what was refused there is nothing.
type OwnCharges = { row: Row; part: "pending" | "taken" };

async function readOwn(sql: Reader): Promise<OwnCharges[]> {
  const outcomes = new Map<string, BatchOutcome>();
  for (const row of await sql.all(
    `SELECT b.batch_id, b.outcome FROM batches b JOIN submissions s ON s.id = b.batch_id
     WHERE b.outcome IS NOT NULL AND s.state = 'included'`,
  )) {
    outcomes.set(hex(row, "batch_id"), outcomeFromJson(text(row, "outcome")));
  }
  const rows = await sql.all(
    `SELECT payer, budget_id, COALESCE(batch_id, '') AS batch_id, COALESCE(tool_id, '') AS tool_id,
       CAST(SUM(amount) AS BIGINT) AS amount, CAST(SUM(owed * amount) AS BIGINT) AS owed
     FROM charges c LEFT JOIN submissions s ON s.id = c.batch_id
     WHERE (c.state = 'accrued' OR (c.state = 'batched' AND s.state <> 'final')) AND charged_to = payer
     GROUP BY payer, budget_id, batch_id, tool_id`,
  );
  return rows.flatMap((row): OwnCharges[] => {
    const outcome = outcomes.get(text(row, "batch_id"));
    const [payer, toolId] = [address(row, "payer"), hex(row, "tool_id")];
    if (outcome === undefined || isOwed(outcome)(payer, toolId)) return [{ row, part: "pending" }];
    return isRefused(outcome)(payer, toolId) ? [] : [{ row, part: "taken" }];
  });
}

async function auditBudgets(sql: Reader, own: readonly OwnCharges[]): Promise<string[]> {
  const [open, taken] = [new Map<string, bigint>(), new Map<string, bigint>()];
  const add = (to: Map<string, bigint>, name: string, row: Row) => to.set(name, (to.get(name) ?? 0n) + amount(row));
  for (const { row, part } of own) {
    if (row.budget_id === null) continue;
    if (part === "taken") add(taken, `${row.payer} ${row.budget_id}`, row);
    else add(open, `${row.payer} ${row.budget_id} pending`, row);
  }
  for (const row of await sql.all(
    `SELECT payer, budget_id, CAST(SUM(amount) AS BIGINT) AS amount FROM ${HELD}
     WHERE budget_id IS NOT NULL GROUP BY payer, budget_id`,
  )) {
    add(open, `${row.payer} ${row.budget_id} held`, row);
  }
  const counted = await sql.all(
    "SELECT payer || ' ' || id AS name, held, pending FROM budgets WHERE held <> 0 OR pending <> 0",
  );
  return [
    ...differences(counted, "name", ["held", "pending"], open),
    ...(await compare(sql, "taken", {
      counted: "SELECT payer || ' ' || id AS name, taken AS counted, 0 AS expected FROM budgets",
      expected: [
        `SELECT payer || ' ' || budget_id, 0, CAST(SUM(amount) AS BIGINT) FROM charges c JOIN submissions s ON s.id = c.batch_id
         WHERE c.state = 'batched' AND s.state = 'final' AND charged_to = payer AND budget_id IS NOT NULL
         GROUP BY payer, budget_id`,
        "SELECT payer || ' ' || id, 0, archived FROM budgets WHERE archived > 0",
      ],
      open: taken,
    })),
  ];
}

async function auditPayers(sql: Reader, own: readonly OwnCharges[]): Promise<string[]> {
  const open = new Map<string, bigint>();
  const add = (counter: string, by: bigint) => open.set(counter, (open.get(counter) ?? 0n) + by);
  for (const { row, part } of own) {
    if (part !== "pending") continue;
    add(`${text(row, "payer")} pending`, amount(row));
    add(`${text(row, "payer")} owed`, amount(row, "owed"));
  }
  for (const row of await sql.all(`SELECT payer, CAST(SUM(amount) AS BIGINT) AS amount FROM ${HELD} GROUP BY payer`)) {
    add(`${text(row, "payer")} held`, amount(row));
  }
  const counted = await sql.all(
    "SELECT payer, pending, held, owed FROM payers WHERE pending <> 0 OR held <> 0 OR owed <> 0",
  );
  return [
    ...differences(counted, "payer", ["pending", "held", "owed"], open),
    ...(await compare(sql, "settled", {
      counted: "SELECT payer AS name, settled AS counted, 0 AS expected FROM payers",
      expected: [
        `SELECT payer, 0, CAST(SUM(amount) AS BIGINT) FROM charges c JOIN submissions s ON s.id = c.batch_id
         WHERE c.state = 'batched' AND s.state = 'final' AND charged_to = payer GROUP BY payer`,
        "SELECT payer, 0, archived FROM payers WHERE archived > 0",
      ],
    })),
    ...(await compare(sql, "debt", {
      counted: "SELECT payer AS name, debt AS counted, 0 AS expected FROM payers",
      expected: [
        `SELECT payer, 0, CAST(SUM(amount) AS BIGINT) FROM charges
         WHERE charged_to <> payer AND cleared = 0 AND state <> 'refused' GROUP BY payer`,
      ],
    })),
  ];
}

async function auditDueAccounts(sql: Reader): Promise<string[]> {
  const expected = new Map<string, bigint>();
  for (const row of await sql.all(
    `SELECT charged_to, COUNT(*) AS charges, CAST(SUM(amount) AS BIGINT) AS amount, MIN(due_at) AS due_at FROM charges
     WHERE state = 'accrued' GROUP BY charged_to`,
  )) {
    for (const column of ["charges", "amount", "due_at"]) {
      expected.set(`${text(row, "charged_to")} ${column}`, amount(row, column));
    }
  }
  const counted = await sql.all(
    `SELECT account, charges, amount, COALESCE(due_at, 0) AS due_at FROM due_accounts
     WHERE charges <> 0 OR amount <> 0 OR due_at IS NOT NULL`,
  );
  return differences(counted, "account", ["charges", "amount", "due_at"], expected);
}

async function auditSessions(sql: Reader): Promise<string[]> {
  const open = new Map<string, bigint>();
  for (const row of await sql.all(
    "SELECT session_id, CAST(SUM(amount) AS BIGINT) AS amount FROM holds WHERE state = 'held' GROUP BY session_id",
  )) {
    open.set(`${text(row, "session_id")} held`, amount(row));
  }
  for (const row of await sql.all(
    `SELECT session_id, COUNT(*) AS charges, CAST(SUM(amount) AS BIGINT) AS amount
     FROM charges WHERE waiting = 1 GROUP BY session_id`,
  )) {
    open.set(`${text(row, "session_id")} waiting_count`, amount(row, "charges"));
    open.set(`${text(row, "session_id")} waiting_amount`, amount(row));
  }
  const counted = await sql.all(
    `SELECT id, held, waiting_count, waiting_amount FROM sessions
     WHERE held <> 0 OR waiting_count <> 0 OR waiting_amount <> 0`,
  );
  return [
    ...differences(counted, "id", ["held", "waiting_count", "waiting_amount"], open),
    ...(await compare(sql, "spent", {
      counted: "SELECT id AS name, spent AS counted, 0 AS expected FROM sessions",
      expected: [
        `SELECT session_id, 0, CAST(SUM(amount) AS BIGINT) FROM holds WHERE state = 'captured' GROUP BY session_id`,
        "SELECT id, 0, archived FROM sessions WHERE archived > 0",
      ],
    })),
  ];
}

type Comparison = {
  // Three columns: a name, what was counted for it, and zero.
  counted: string;
  // A name, zero, and a part of what there should be.
  expected: readonly string[];
  // What there should be beside that, by name.
  open?: ReadonlyMap<string, bigint>;
};

// Of all names only those come out of the database for which the two are not the same.
async function compare(
  sql: Reader,
  counter: string,
  { counted, expected, open = new Map() }: Comparison,
): Promise<string[]> {
  const rows = await sql.all(
    `SELECT name, CAST(SUM(counted) AS BIGINT) AS counted, CAST(SUM(expected) AS BIGINT) AS expected
     FROM (${[counted, ...expected].join(" UNION ALL ")}) AS sums
     GROUP BY name HAVING SUM(counted) <> SUM(expected) ORDER BY name`,
  );
  const found: string[] = [];
  const left = new Map(open);
  for (const row of rows) {
    const name = text(row, "name");
    const should = amount(row, "expected") + (left.get(name) ?? 0n);
    left.delete(name);
    if (row.counted !== should) found.push(`${name} ${counter} is ${row.counted} and should be ${should}`);
  }
  for (const [name, missing] of left) {
    if (missing !== 0n) found.push(`${name} ${counter} is ${missing} less than it should be`);
  }
  return found;
}

// Of rows that are not all zero.
function differences(
  rows: readonly Row[],
  key: string,
  columns: readonly string[],
  expected: ReadonlyMap<string, bigint>,
): string[] {
  const missing = new Map(expected);
  const found: string[] = [];
  for (const row of rows) {
    for (const column of columns) {
      const counter = `${text(row, key)} ${column}`;
      const should = expected.get(counter) ?? 0n;
      missing.delete(counter);
      if (row[column] !== should) found.push(`${counter} is ${row[column]} and should be ${should}`);
    }
  }
  for (const [counter, should] of missing) if (should !== 0n) found.push(`${counter} is 0 and should be ${should}`);
  return found;
}
