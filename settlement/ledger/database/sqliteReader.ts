// A connection of its own that reads for as long as it takes, in a thread of its own: an audit or a check of the whole file takes
// seconds for a million charges, and nobody who accrues may wait for that. Statements come as messages, one at a time. Another one
// moves what is in the log into the file, which waits for the disk.
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { Row, Value } from "./sql.ts";

export type ReaderData = { path: string; busyTimeoutMs: number };
// `begin` and `end` are around several reads of one moment.
export type Asked = { id: number } & (
  | { kind: "begin" | "end" | "check" | "checkpoint" }
  | { kind: "all"; text: string; params: readonly Value[] }
);
export type Answered = { id: number } & (
  | { rows: Row[] }
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
    return { id: asked.id, rows: rowsOf(asked) };
  } catch (error) {
    const code = error instanceof Error && "errcode" in error ? Number(error.errcode) : null;
    return { id: asked.id, error: error instanceof Error ? error.message : String(error), code };
  }
}

function rowsOf(asked: Asked): Row[] {
  switch (asked.kind) {
    case "begin":
      database.exec("BEGIN DEFERRED");
      // The moment is that of the first read.
      database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").all();
      return [];
    case "end":
      if (database.isTransaction) database.exec("COMMIT");
      return [];
    case "check":
      return database.prepare("PRAGMA quick_check(1)").all() as Row[];
    // As far as nobody reads what was there before. It is on disk before the log may be written over.
    case "checkpoint":
      checkpoints ??= openCheckpoints();
      return checkpoints.prepare("PRAGMA wal_checkpoint(PASSIVE)").all() as Row[];
    case "all":
      return database.prepare(asked.text).all(...asked.params) as Row[];
  }
}

// Not the one that reads: within a moment that it keeps it could not.
function openCheckpoints(): DatabaseSync {
  const opened = new DatabaseSync(path, { readBigInts: true, timeout: busyTimeoutMs });
  opened.exec("PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0");
  return opened;
}
