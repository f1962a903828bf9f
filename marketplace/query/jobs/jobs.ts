import type { Address } from "viem";
import type { MicroUsdc } from "../../../settlement/domain/money.ts";
import { address, amount, count, text } from "../../../settlement/ledger/database/decode.ts";
import type { Reader, Row, Sql } from "../../../settlement/ledger/database/sql.ts";
import type { Drawn } from "../turn/agent.ts";
import type { Dataset } from "../turn/composeResult.ts";
import type { TurnReport } from "./createTurnReporter.ts";

// A question and what became of it. Every change of its state says in its own statement from which state: whoever was taken
// for dead meanwhile changes nothing, and so charges nothing.

export type JobStatus = "queued" | "running" | "completed" | "failed";
export type JobOrigin = "job" | "attached";

export type NewJob = {
  id: string;
  account: Address;
  key: string | null;
  digest: string;
  sessionId: string;
  parentId: string | null;
  rootId: string;
  mode: "initial" | "resume" | "fork";
  // As JSON.
  request: string;
  origin: JobOrigin;
  reserved: MicroUsdc;
};

export type Job = NewJob & {
  status: JobStatus;
  holder: string;
  // As JSON.
  result: string | null;
  error: string | null;
  toolsUsed: readonly string[];
  createdAtMs: number;
  updatedAtMs: number;
  completedAtMs: number | null;
};

// False if another process was first with the same key. Whoever waits on a connection has nobody who would begin it again after a
// crash, so that theirs counts as begun from the start, and is written down once.
export async function insertJob(
  sql: Sql,
  job: NewJob,
  holder: string,
  lapsesAtMs: number,
  nowMs: number,
): Promise<boolean> {
  const inserted = await sql.run(
    `INSERT INTO query_jobs (id, account, idempotency_key, digest, session_id, parent_id, root_id, mode, request, origin, status,
       holder, lapses_at, reserved, turn_attempts, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $15, $11, $12, $13, 0, $14, $14) ON CONFLICT DO NOTHING`,
    [
      job.id,
      job.account,
      job.key,
      job.digest,
      job.sessionId,
      job.parentId,
      job.rootId,
      job.mode,
      job.request,
      job.origin,
      holder,
      lapsesAtMs,
      job.reserved,
      nowMs,
      job.origin === "attached" ? "running" : "queued",
    ],
  );
  if (inserted > 0) return true;
  // This very job, whose first commit was not heard of.
  return (await sql.all("SELECT 1 FROM query_jobs WHERE id = $1", [job.id])).length > 0;
}

export async function findJob(sql: Reader, account: Address, id: string): Promise<Job | null> {
  const [row] = await sql.all("SELECT * FROM query_jobs WHERE id = $1 AND account = $2", [id, account]);
  return row === undefined ? null : jobFrom(row);
}

export async function findJobByKey(sql: Reader, account: Address, key: string): Promise<Job | null> {
  const [row] = await sql.all("SELECT * FROM query_jobs WHERE account = $1 AND idempotency_key = $2", [account, key]);
  return row === undefined ? null : jobFrom(row);
}

// The newest first, without what was answered, which may be long.
export async function listJobs(sql: Reader, account: Address, limit: number) {
  const rows = await sql.all(
    `SELECT id, status, request, error, created_at, updated_at, completed_at FROM query_jobs WHERE account = $1
     ORDER BY created_at DESC, id LIMIT ${limit}`,
    [account],
  );
  return rows.map((row) => ({
    id: text(row, "id"),
    status: text(row, "status") as JobStatus,
    request: text(row, "request"),
    error: row.error === null ? null : text(row, "error"),
    createdAtMs: count(row, "created_at"),
    updatedAtMs: count(row, "updated_at"),
    completedAtMs: row.completed_at === null ? null : count(row, "completed_at"),
  }));
}

// How many of an account's questions are not answered yet.
export async function countUnfinished(sql: Reader, account: Address): Promise<number> {
  const [row] = await sql.all(
    "SELECT COUNT(*) AS unfinished FROM query_jobs WHERE account = $1 AND status IN ('queued', 'running')",
    [account],
  );
  return count(row ?? {}, "unfinished");
}

export async function beginJob(sql: Sql, id: string, holder: string, nowMs: number): Promise<boolean> {
  const begun = await sql.run(
    "UPDATE query_jobs SET status = 'running', updated_at = $3 WHERE id = $1 AND holder = $2 AND status IN ('queued', 'running')",
    [id, holder, nowMs],
  );
  return begun > 0;
}

export type Completion = {
  result: string;
  toolsUsed: readonly string[];
  // What the daemon is told of it, as JSON, and what is owed; null if nothing was held either.
  turn: { text: string; amount: MicroUsdc } | null;
  dataset: Dataset | null;
  images: readonly Drawn[];
};

// The answer and what is owed for it, in one statement: neither is ever there without the other.
export async function completeJob(
  sql: Sql,
  { id, account }: Pick<NewJob, "id" | "account">,
  holder: string,
  { result, toolsUsed, turn, dataset, images }: Completion,
  times: { nowMs: number; turnDueAtMs: number; dataExpiresAtMs: number },
): Promise<boolean> {
  const completed = await sql.run(
    `UPDATE query_jobs SET status = 'completed', result = $3, tools_used = $4, turn = $5, turn_due_at = $6, reserved = $7,
       updated_at = $8, completed_at = $8, size = $9
     WHERE id = $1 AND holder = $2 AND status = 'running'`,
    [
      id,
      holder,
      result,
      JSON.stringify(toolsUsed),
      turn?.text ?? null,
      turn === null ? null : times.turnDueAtMs,
      turn?.amount ?? 0n,
      times.nowMs,
      Buffer.byteLength(result),
    ],
  );
  if (completed === 0) {
    // This very completion, whose first commit was not heard of.
    const [row] = await sql.all("SELECT result FROM query_jobs WHERE id = $1 AND status = 'completed'", [id]);
    return row?.result === result;
  }
  if (dataset !== null) {
    await sql.run(
      `INSERT INTO query_data (id, hash, body, expires_at, account, size) VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT DO NOTHING`,
      [dataset.datasetId, dataset.hash, dataset.text, times.dataExpiresAtMs, account, dataset.bytes],
    );
  }
  // The same picture may be in several answers, and is there for as long as the last of them.
  for (const { hash, png } of images) {
    await sql.run(
      `INSERT INTO query_images (hash, body, expires_at) VALUES ($1, $2, $3)
       ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at`,
      [hash, png.toString("base64"), times.dataExpiresAtMs],
    );
    await sql.run(
      `INSERT INTO query_image_owners (hash, account, size, expires_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (hash, account) DO UPDATE SET expires_at = excluded.expires_at`,
      [hash, account, png.length, times.dataExpiresAtMs],
    );
  }
  return true;
}

// A job that has no answer, and costs nothing: if something was held for it, the daemon is told so. Its key is free again if whoever
// asked went away and may come back.
export async function failJob(
  sql: Sql,
  id: string,
  holder: string,
  { error, freesKey, voided }: { error: string; freesKey: boolean; voided: string },
  times: { nowMs: number; turnDueAtMs: number },
): Promise<boolean> {
  const failed = await sql.run(
    `UPDATE query_jobs SET status = 'failed', error = $3, updated_at = $4, completed_at = $4, reserved = 0,
       turn = CASE WHEN reserved > 0 THEN $5 ELSE turn END,
       turn_due_at = CASE WHEN reserved > 0 THEN CAST($6 AS BIGINT) ELSE turn_due_at END
       ${freesKey ? ", idempotency_key = NULL" : ""}
     WHERE id = $1 AND holder = $2 AND status IN ('queued', 'running')`,
    [id, holder, error, times.nowMs, voided, times.turnDueAtMs],
  );
  return failed > 0;
}

// Says that a process is alive.
export async function extendJobs(sql: Sql, holder: string, lapsesAtMs: number): Promise<void> {
  await sql.run("UPDATE query_jobs SET lapses_at = $2 WHERE holder = $1 AND status IN ('queued', 'running')", [
    holder,
    lapsesAtMs,
  ]);
}

// What was left behind: by processes that were not heard of for too long, or by one of this name before it came back.
export async function listAbandoned(sql: Reader, own: string | null, nowMs: number, limit: number): Promise<Job[]> {
  const rows = await sql.all(
    `SELECT * FROM query_jobs WHERE status IN ('queued', 'running') AND (lapses_at <= $1 OR holder = $2)
     ORDER BY created_at LIMIT ${limit}`,
    [nowMs, own],
  );
  return rows.map(jobFrom);
}

// What nobody has begun can be begun by another.
export async function adoptJob(sql: Sql, job: Job, holder: string, lapsesAtMs: number): Promise<boolean> {
  const adopted = await sql.run(
    "UPDATE query_jobs SET holder = $3, lapses_at = $4 WHERE id = $1 AND holder = $2 AND status = 'queued'",
    [job.id, job.holder, holder, lapsesAtMs],
  );
  return adopted > 0;
}

export type DueTurn = { id: string; turn: TurnReport; attempts: number };

export async function listDueTurns(sql: Reader, nowMs: number, limit: number): Promise<DueTurn[]> {
  const rows = await sql.all(
    `SELECT id, turn, turn_attempts FROM query_jobs WHERE turn_due_at IS NOT NULL AND turn_due_at <= $1
     ORDER BY turn_due_at LIMIT ${limit}`,
    [nowMs],
  );
  return rows.map((row) => ({
    id: text(row, "id"),
    turn: JSON.parse(text(row, "turn")) as TurnReport,
    attempts: count(row, "turn_attempts"),
  }));
}

// What a process of this name had yet to tell is due at once: it is this one that has taken its place, and the daemon knows a
// turn that it has heard of.
export async function hastenTurns(sql: Sql, holder: string, nowMs: number): Promise<void> {
  await sql.run("UPDATE query_jobs SET turn_due_at = $2 WHERE holder = $1 AND turn_due_at > $2", [holder, nowMs]);
}

// What is told instead, if it was not told yet.
export async function replaceTurn(sql: Sql, turn: TurnReport): Promise<void> {
  await sql.run("UPDATE query_jobs SET turn = $2 WHERE id = $1 AND turn_due_at IS NOT NULL", [
    turn.turnId,
    JSON.stringify(turn),
  ]);
}

// The daemon has heard of it.
export async function settleTurn(sql: Sql, id: string): Promise<void> {
  await sql.run("UPDATE query_jobs SET turn_due_at = NULL, reserved = 0 WHERE id = $1", [id]);
}

export async function delayTurn(sql: Sql, id: string, dueAtMs: number): Promise<void> {
  await sql.run("UPDATE query_jobs SET turn_due_at = $2, turn_attempts = turn_attempts + 1 WHERE id = $1", [
    id,
    dueAtMs,
  ]);
}

export async function countTurns(sql: Reader): Promise<number> {
  const [row] = await sql.all("SELECT COUNT(*) AS turns FROM query_jobs WHERE turn_due_at IS NOT NULL");
  return count(row ?? {}, "turns");
}

export async function findData(sql: Reader, id: string, nowMs: number): Promise<{ hash: string; body: string } | null> {
  const [row] = await sql.all("SELECT hash, body FROM query_data WHERE id = $1 AND expires_at > $2", [id, nowMs]);
  return row === undefined ? null : { hash: text(row, "hash"), body: text(row, "body") };
}

export async function findImage(sql: Reader, hash: string, nowMs: number): Promise<Buffer | null> {
  const [row] = await sql.all("SELECT body FROM query_images WHERE hash = $1 AND expires_at > $2", [hash, nowMs]);
  return row === undefined ? null : Buffer.from(text(row, "body"), "base64");
}

// Forgets the oldest of what is kept for an account until no more than so much is left: of what its tools have said and of what was drawn
// together, and of its answers, which nothing else pushes out.
export async function evictKept(sql: Sql, account: string, maxBytes: number): Promise<number> {
  const old = await sql.all(
    `SELECT kind, id FROM
       (SELECT kind, id, SUM(size) OVER (ORDER BY expires_at DESC, kind, id) AS kept FROM
         (SELECT 'data' AS kind, id, size, expires_at FROM query_data WHERE account = $1
          UNION ALL SELECT 'image' AS kind, hash AS id, size, expires_at FROM query_image_owners WHERE account = $1) AS own) AS sized
     WHERE kept > $2`,
    [account, maxBytes],
  );
  for (const row of old) {
    const id = text(row, "id");
    if (text(row, "kind") === "data") await sql.run("DELETE FROM query_data WHERE id = $1", [id]);
    else await sql.run("DELETE FROM query_image_owners WHERE hash = $1 AND account = $2", [id, account]);
    await sql.run(
      "DELETE FROM query_images WHERE hash = $1 AND hash NOT IN (SELECT hash FROM query_image_owners WHERE hash = $1)",
      [id],
    );
  }
  const answers = await sql.run(
    `${FORGET} WHERE id IN
       (SELECT id FROM
         (SELECT id, turn_due_at, SUM(size) OVER (ORDER BY completed_at DESC, id) AS kept FROM query_jobs
          WHERE account = $1 AND size > 0) AS sized
        WHERE kept > $2 AND turn_due_at IS NULL)`,
    [account, maxBytes],
  );
  return old.length + answers;
}

// What is left of a question that was answered long ago.
export const isForgotten = ({ request }: Pick<Job, "request">): boolean => request === FORGOTTEN;

const FORGOTTEN = "{}";
const FORGET = `UPDATE query_jobs SET result = NULL, request = '${FORGOTTEN}', status = 'failed', size = 0,
  error = 'the answer is not kept any more'`;

// Answers are forgotten, and so is what is behind their addresses. The row stays for some weeks more: its key was used. It stays in any
// case until its turn was told. Returns the most that was forgotten of anything.
export async function forgetJobs(
  sql: Sql,
  { answersBeforeMs, keysBeforeMs, nowMs }: { answersBeforeMs: number; keysBeforeMs: number; nowMs: number },
  limit: number,
): Promise<number> {
  const answers = await sql.run(
    `${FORGET} WHERE id IN (SELECT id FROM query_jobs
       WHERE completed_at <= $1 AND turn_due_at IS NULL AND request <> '${FORGOTTEN}' LIMIT ${limit})`,
    [answersBeforeMs],
  );
  const keys = await sql.run(
    `DELETE FROM query_jobs WHERE id IN (SELECT id FROM query_jobs WHERE completed_at <= $1 AND turn_due_at IS NULL LIMIT ${limit})`,
    [keysBeforeMs],
  );
  const data = await sql.run(
    `DELETE FROM query_data WHERE id IN (SELECT id FROM query_data WHERE expires_at <= $1 LIMIT ${limit})`,
    [nowMs],
  );
  const images = await sql.run(
    `DELETE FROM query_images WHERE hash IN (SELECT hash FROM query_images WHERE expires_at <= $1 LIMIT ${limit})`,
    [nowMs],
  );
  const owners = await sql.run(
    `DELETE FROM query_image_owners WHERE (hash, account) IN
       (SELECT hash, account FROM query_image_owners WHERE expires_at <= $1 LIMIT ${limit})`,
    [nowMs],
  );
  return Math.max(answers, keys, data, images, owners);
}

function jobFrom(row: Row): Job {
  const textOrNull = (column: string) => (row[column] === null ? null : text(row, column));
  return {
    id: text(row, "id"),
    account: address(row, "account"),
    key: textOrNull("idempotency_key"),
    digest: text(row, "digest"),
    sessionId: text(row, "session_id"),
    parentId: textOrNull("parent_id"),
    rootId: text(row, "root_id"),
    mode: text(row, "mode") as Job["mode"],
    request: text(row, "request"),
    origin: text(row, "origin") as JobOrigin,
    status: text(row, "status") as JobStatus,
    holder: text(row, "holder"),
    reserved: amount(row, "reserved"),
    result: textOrNull("result"),
    error: textOrNull("error"),
    toolsUsed: row.tools_used === null ? [] : (JSON.parse(text(row, "tools_used")) as string[]),
    createdAtMs: count(row, "created_at"),
    updatedAtMs: count(row, "updated_at"),
    completedAtMs: row.completed_at === null ? null : count(row, "completed_at"),
  };
}
