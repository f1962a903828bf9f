// A connection of its own that reads for as long as it takes, in a thread of its own: an audit or a check of the whole file takes
// seconds for a million charges, and nobody who accrues may wait for that. Statements come as messages, one at a time. Another one
// moves what is in the log into the file, which waits for the disk.
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { Row, Value } from "../sql.ts";

export type ReaderData = { path: string; busyTimeoutMs: number };
// `begin` and `end` are around several reads of one moment.
export type Asked = { id: number } & (
  | { kind: "begin" | "end" | "check" | "checkpoint" }
  | { kind: "all"; text: string; params: readonly Value[] }
  // What is left of an answer that came in part.
  | { kind: "more" }
);
// Rows come as many at a time as whoever asked reads in a moment; it asks for the next ones then, so that others run in between.
export type Answered = { id: number } & (
  | { rows: Row[]; more: boolean }
  // What SQLite said, in its own words and codes.
  | { error: string; code: number | null }
);

const { path, busyTimeoutMs } = workerData as ReaderData;
const database = new DatabaseSync(path, { readBigInts: true, timeout: busyTimeoutMs });
database.exec("PRAGMA query_only = ON");
let checkpoints: DatabaseSync | null = null;

parentPort?.on("message", (asked: Asked) => {
  parentPort?.postMessage(answer(asked));
});

function answer(asked: Asked): Answered {
  try {
    return { id: asked.id, ...rowsOf(asked) };
  } catch (error) {
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) : null;
    return { id: asked.id, error: error instanceof Error ? error.message : String(error), code };
  }
}

const ROWS_AT_ONCE = 1_000;
// Statements that have more rows than were asked for so far.
const reading = new Map<number, Iterator<Row>>();

function rowsOf(asked: Asked): { rows: Row[]; more: boolean } {
  switch (asked.kind) {
    case "begin":
      database.exec("BEGIN DEFERRED");
      // The moment is that of the first read.
      database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").all();
      return NOTHING;
    case "end":
      // Whoever failed in between has not read its statement to the end.
      for (const rows of reading.values()) rows.return?.();
      reading.clear();
      if (database.isTransaction) database.exec("COMMIT");
      return NOTHING;
    case "check":
      return { rows: database.prepare("PRAGMA quick_check(1)").all() as Row[], more: false };
    // As far as nobody reads what was there before. It is on disk before the log may be written over.
    case "checkpoint":
      checkpoints ??= openCheckpoints();
      return { rows: checkpoints.prepare("PRAGMA wal_checkpoint(PASSIVE)").all() as Row[], more: false };
    case "all":
      return readSome(asked.id, database.prepare(asked.text).iterate(...asked.params) as Iterator<Row>);
    case "more":
      return readSome(asked.id, reading.get(asked.id) ?? [].values());
  }
}

const NOTHING = { rows: [], more: false };

function readSome(id: number, iterator: Iterator<Row>): { rows: Row[]; more: boolean } {
  const rows: Row[] = [];
  while (rows.length < ROWS_AT_ONCE) {
    const { done, value } = iterator.next();
    if (done) {
      reading.delete(id);
      return { rows, more: false };
    }
    rows.push(value);
  }
  reading.set(id, iterator);
  return { rows, more: true };
}

// Not the one that reads: within a moment that it keeps it could not.
function openCheckpoints(): DatabaseSync {
  const opened = new DatabaseSync(path, { readBigInts: true, timeout: busyTimeoutMs });
  opened.exec("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0");
  return opened;
}
