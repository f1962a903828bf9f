import type { BatchOutcome } from "../../domain/batch.ts";
import { address, amount, hex, text } from "../decode.ts";
import { SUMS } from "../figures.ts";
import type { Reader, Row } from "../sql.ts";
import { outcomeFromJson } from "./outcomeJson.ts";
import { isOwed } from "./takenOnChain.ts";

// Computes from charges and holds what the verbs have counted along the way.
export async function audit(sql: Reader): Promise<string[]> {
  return [...(await auditPayers(sql)), ...(await auditSessions(sql)), ...(await auditTotals(sql))];
}

async function auditTotals(sql: Reader): Promise<string[]> {
  const expected = new Map<string, bigint>();
  const add = (sum: string, by: bigint) => expected.set(sum, (expected.get(sum) ?? 0n) + by);
  const rows = await sql.all(
    "SELECT state, COUNT(*) AS charges, CAST(SUM(amount) AS BIGINT) AS amount FROM charges GROUP BY state",
  );
  for (const row of rows) {
    add("total accrued", amount(row));
    add("total accrued_charges", amount(row, "charges"));
    const ending = ENDINGS[text(row, "state")];
    if (ending !== undefined) add(`total ${ending}`, amount(row));
  }
  const counted = await sql.all(`SELECT 'total' AS name, ${SUMS} FROM totals`);
  return differences(counted, "name", ["accrued", "accrued_charges", ...Object.values(ENDINGS)], expected);
}

const ENDINGS: Readonly<Record<string, string>> = {
  final: "settled",
  absorbed: "absorbed",
  refused: "refused",
  voided: "voided",
};

async function auditPayers(sql: Reader): Promise<string[]> {
  const expected = new Map<string, bigint>();
  const add = (counter: string, by: bigint) => expected.set(counter, (expected.get(counter) ?? 0n) + by);

  const outcomes = new Map<string, BatchOutcome>();
  for (const row of await sql.all(
    `SELECT b.root, b.outcome FROM batches b JOIN submissions s ON s.id = b.root
     WHERE b.outcome IS NOT NULL AND s.state = 'included'`,
  )) {
    outcomes.set(hex(row, "root"), outcomeFromJson(text(row, "outcome")));
  }
  for (const row of await sql.all(
    `SELECT payer, COALESCE(root, '') AS root, COALESCE(tool_id, '') AS tool_id, CAST(SUM(amount) AS BIGINT) AS amount
     FROM charges
     WHERE state IN ('accrued', 'batched') AND charged_to = payer
     GROUP BY payer, root, tool_id`,
  )) {
    const outcome = outcomes.get(text(row, "root"));
    const payer = address(row, "payer");
    if (outcome === undefined || isOwed(outcome)(payer, hex(row, "tool_id"))) add(`${payer} pending`, amount(row));
  }
  for (const row of await sql.all(
    `SELECT payer, CAST(SUM(amount) AS BIGINT) AS amount FROM charges
     WHERE charged_to <> payer AND cleared = 0 AND state <> 'refused' GROUP BY payer`,
  )) {
    add(`${text(row, "payer")} debt`, amount(row));
  }
  for (const row of await sql.all(
    "SELECT payer, CAST(SUM(amount) AS BIGINT) AS amount FROM holds WHERE state = 'held' GROUP BY payer",
  )) {
    add(`${text(row, "payer")} held`, amount(row));
  }
  return differences(await sql.all("SELECT * FROM payers"), "payer", ["pending", "held", "debt"], expected);
}

async function auditSessions(sql: Reader): Promise<string[]> {
  const expected = new Map<string, bigint>();
  for (const row of await sql.all(
    `SELECT session_id, state, CAST(SUM(amount) AS BIGINT) AS amount FROM holds
     WHERE state <> 'voided' GROUP BY session_id, state`,
  )) {
    expected.set(`${text(row, "session_id")} ${row.state === "captured" ? "spent" : "held"}`, amount(row));
  }
  for (const row of await sql.all(
    `SELECT session_id, COUNT(*) AS charges, CAST(SUM(amount) AS BIGINT) AS amount, MIN(accrued_at) AS since
     FROM charges WHERE waiting = 1 GROUP BY session_id`,
  )) {
    expected.set(`${text(row, "session_id")} waiting_count`, amount(row, "charges"));
    expected.set(`${text(row, "session_id")} waiting_amount`, amount(row));
  }
  const columns = ["spent", "held", "waiting_count", "waiting_amount"];
  return differences(await sql.all("SELECT * FROM sessions"), "id", columns, expected);
}

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
  for (const [counter, should] of missing)
    if (should !== 0n) found.push(`${counter} is missing and should be ${should}`);
  return found;
}
