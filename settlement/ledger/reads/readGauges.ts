import type { ChargeFailure } from "../../domain/batch/batch.ts";
import type { SubmissionKind } from "../../domain/batch/submission.ts";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import { amount, count, text } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";

// What has not come to its end yet, and how often payers could not pay.
export type Gauges = {
  failures: { reason: ChargeFailure; count: number }[];
  accrued: { count: number; amount: MicroUsdc; oldestDueAtMs: number | null };
  openSessions: number;
  holds: { count: number; amount: MicroUsdc; oldestHeldAtMs: number | null };
  submissions: {
    kind: SubmissionKind;
    state: "planned" | "submitted" | "included" | "reverted";
    count: number;
    oldestCreatedAtMs: number;
  }[];
  debt: MicroUsdc;
  owed: MicroUsdc;
  // Rows that somebody demands receipts for, and what was charged for them.
  contests: { count: number; amount: MicroUsdc };
};

// What is on its way, for people who watch. Every question is answered from an index over what is open, whatever is final.
export function readGauges() {
  return async (sql: Reader): Promise<Gauges> => {
    const [due] = await sql.all(
      `SELECT CAST(COALESCE(SUM(charges), 0) AS BIGINT) AS charges, CAST(COALESCE(SUM(amount), 0) AS BIGINT) AS amount,
         MIN(due_at) AS oldest
       FROM due_accounts WHERE due_at IS NOT NULL`,
    );
    const [sessions] = await sql.all("SELECT COUNT(*) AS sessions FROM sessions WHERE status = 'open'");
    const [holds] = await sql.all(
      `SELECT COUNT(*) AS holds, CAST(COALESCE(SUM(amount), 0) AS BIGINT) AS amount, MIN(held_at) AS oldest
       FROM (SELECT amount, held_at FROM holds WHERE state = 'held' UNION ALL SELECT amount, held_at FROM turn_holds) AS held`,
    );
    const submissions = await sql.all(
      `SELECT kind, state, COUNT(*) AS submissions, MIN(created_at) AS oldest FROM submissions
       WHERE state NOT IN ('final', 'abandoned') GROUP BY kind, state ORDER BY kind, state`,
    );
    const [debt] = await sql.all("SELECT CAST(COALESCE(SUM(debt), 0) AS BIGINT) AS amount FROM payers WHERE debt > 0");
    const [owed] = await sql.all("SELECT CAST(COALESCE(SUM(owed), 0) AS BIGINT) AS amount FROM payers WHERE owed > 0");
    const [contests] = await sql.all(
      "SELECT COUNT(*) AS contests, CAST(COALESCE(SUM(charged), 0) AS BIGINT) AS amount FROM contests WHERE state = 'open'",
    );
    const failures = await sql.all(
      "SELECT reason, CAST(SUM(failures) AS BIGINT) AS failures FROM failure_counts GROUP BY reason ORDER BY reason",
    );
    return {
      failures: failures.map((row) => ({
        reason: text(row, "reason") as ChargeFailure,
        count: count(row, "failures"),
      })),
      accrued: {
        count: due === undefined ? 0 : count(due, "charges"),
        amount: due === undefined ? microUsdc(0n) : amount(due),
        oldestDueAtMs: due === undefined || due.oldest === null ? null : count(due, "oldest"),
      },
      openSessions: sessions === undefined ? 0 : count(sessions, "sessions"),
      holds: {
        count: holds === undefined ? 0 : count(holds, "holds"),
        amount: holds === undefined ? microUsdc(0n) : amount(holds),
        oldestHeldAtMs: holds === undefined || holds.oldest === null ? null : count(holds, "oldest"),
      },
      submissions: submissions.map((row) => ({
        kind: text(row, "kind") as Gauges["submissions"][number]["kind"],
        state: text(row, "state") as Gauges["submissions"][number]["state"],
        count: count(row, "submissions"),
        oldestCreatedAtMs: count(row, "oldest"),
      })),
      debt: debt === undefined ? microUsdc(0n) : amount(debt),
      owed: owed === undefined ? microUsdc(0n) : amount(owed),
      contests: {
        count: contests === undefined ? 0 : count(contests, "contests"),
        amount: contests === undefined ? microUsdc(0n) : amount(contests),
      },
    };
  };
}
