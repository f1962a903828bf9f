import { statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { SettlementError } from "../../../domain/errors.ts";
import { letOthersRun } from "../../../domain/scheduling/letOthersRun.ts";
import type { Database, Reader, Sql } from "../sql.ts";
import { createPrivately } from "./createPrivately.ts";
import { createSqliteReader } from "./createSqliteReader.ts";
import { bind, type Connection, classify, connect, damageIn, isBusy, readAll, translate } from "./sqliteConnection.ts";

export type SqliteOptions = {
  path: string;
  // The setting that names the file, for what is said about it.
  setting?: string;
  // A bound on the size of the file, in pages of 8 KiB.
  maxPages?: number;
  // How long the log gets before it is moved into the file.
  checkpointPages?: number;
  // How long a transaction waits for another process that writes.
  busyTimeoutMs?: number;
};

// Pages of the log that are moved into the file at once; a page that was written many times is then moved once. 40 MiB. That is
// done in another thread, because it takes as long as hundreds of commits.
const CHECKPOINT_PAGES = 5_000;
// What was written meanwhile is moved by whoever writes, so that the log begins again: as much as a commit or two.
const LAST_PAGES = 500;
const MAX_CHECKPOINTS = 5;
// Several groups of turns, and a part of a batch.
const LONG_MS = 20;
const BUSY_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;
// Above this, what looks through much of the file does so in a thread of its own. Below, it takes less than starting one.
const LARGE_BYTES = 4 * 1024 * 1024;

// One file with one writing connection. Work inside a transaction never waits for anything but the processor, and
// transactions follow one another, so that nothing else gets onto the connection in between. A second connection reads
// what is committed, and a third one whatever takes long, of one moment: in a thread of its own if the file is large, so that nobody
// else waits for it.
export function openSqlite(options: SqliteOptions): Database {
  const { path, setting = "SETTLEMENT_LEDGER", maxPages, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  const { checkpointPages = CHECKPOINT_PAGES } = options;
  createPrivately(path, setting);
  const isLarge = () => statSync(path).size > LARGE_BYTES;
  const writer = connect(path, setting, { check: !isLarge() });
  const thread = createSqliteReader({ path, busyTimeoutMs });
  let damage: SettlementError | null = null;
  // Looking a large file through takes seconds, in which it is used already. What is found then is said to whoever asks next.
  if (isLarge()) {
    thread
      .ask({ kind: "check" })
      .then(([row]) => {
        damage = damageIn(path, row?.quick_check);
      })
      .catch((error) => {
        const known = classify(error);
        if (known instanceof SettlementError && known.code === "ledger_corrupt") damage = known;
      });
  }
  let snapshots: Connection | null = null;
  let lastSnapshot: Promise<unknown> = Promise.resolve();
  if (maxPages !== undefined) writer.script(`PRAGMA max_page_count = ${maxPages}`);
  const reader = connect(path, setting, { check: false });
  let last: Promise<unknown> = Promise.resolve();
  let checkpointing: Promise<void> | null = null;
  let checkpointAt = checkpointPages;
  let open = true;

  // The wait counts from when something is asked, so that many who wait for the same process are all answered in time.
  function exclusively<T>(work: (untilMs: number) => Promise<T>): Promise<T> {
    const untilMs = performance.now() + busyTimeoutMs;
    const result = last.then(() => {
      assertUsable();
      return work(untilMs);
    });
    last = result.catch(() => undefined);
    return result;
  }

  function assertUsable(): void {
    if (!open) throw new SettlementError("ledger_unavailable", "the ledger is closed");
    if (damage !== null) throw damage;
  }

  // Waits for another process that writes, and lets everything else go on meanwhile.
  async function begin(mode: string, untilMs: number): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        writer.script(`BEGIN ${mode}`);
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() >= untilMs) throw error;
      }
      await pause(pauseMs);
    }
  }

  // Until no more is left than the writer moves in a moment: while it goes on writing, it alone can empty the log.
  async function checkpoint(): Promise<void> {
    for (let i = 0; i < MAX_CHECKPOINTS && writer.pagesInLog() > LAST_PAGES; i++) {
      await thread.ask({ kind: "checkpoint" });
    }
    if (writer.pagesInLog() <= LAST_PAGES) await exclusively(async () => writer.checkpoint());
  }

  function checkpointIfLong(): void {
    const pages = writer.pagesInLog();
    if (checkpointing !== null || pages < checkpointAt) return;
    // If it comes to nothing, it is tried again when as much has been added.
    checkpointAt = pages + checkpointPages;
    checkpointing = checkpoint()
      .then(() => {
        checkpointAt = writer.pagesInLog() + checkpointPages;
      })
      .catch(() => undefined)
      .finally(() => {
        checkpointing = null;
      });
  }

  async function committed<T>(work: () => Promise<T>, untilMs: number, mode = "IMMEDIATE"): Promise<T> {
    await begin(mode, untilMs);
    const beganAt = performance.now();
    try {
      const result = await work();
      // It writes every page that was touched, which for a batch of thousands is a step of its own.
      if (performance.now() - beganAt > LONG_MS) await letOthersRun();
      writer.script("COMMIT");
      checkpointIfLong();
      return result;
    } catch (error) {
      writer.rollback();
      throw error;
    }
  }

  async function inPlace<T>(work: (sql: Reader) => Promise<T>): Promise<T> {
    snapshots ??= connect(path, setting, { check: false });
    snapshots.script("BEGIN DEFERRED");
    try {
      return await work(snapshots);
    } finally {
      snapshots.rollback();
    }
  }

  async function inThread<T>(work: (sql: Reader) => Promise<T>): Promise<T> {
    const ask = (question: Parameters<typeof thread.ask>[0]) =>
      thread.ask(question).catch((error) => {
        throw classify(error);
      });
    await ask({ kind: "begin" });
    try {
      return await work({
        takesArrays: false,
        all(text, params = []) {
          const { statement, order } = translate(text);
          return ask({ kind: "all", text: statement, params: bind(params, order) });
        },
      });
    } finally {
      await ask({ kind: "end" });
    }
  }

  return {
    transaction: (work) =>
      exclusively((untilMs) => committed(() => work(inSteps(writer), { mayHaveCommitted: false }), untilMs)),
    migration: (work) =>
      exclusively((untilMs) =>
        committed(() => work({ ...writer, script: (text) => writer.script(inSqlite(text)) }), untilMs),
      ),
    // One after another: they share a connection, and its moment.
    snapshot(work) {
      const result = lastSnapshot.then(() => {
        assertUsable();
        return isLarge() ? inThread(work) : inPlace(work);
      });
      lastSnapshot = result.catch(() => undefined);
      return result;
    },
    writers: 1,
    read: reader,
    async close() {
      await checkpointing;
      await last;
      await lastSnapshot;
      if (!open) return;
      open = false;
      await thread.close();
      snapshots?.close();
      reader.close();
      writer.close();
    },
  };
}

// A transaction has its connection to itself, so that it may read thousands of rows in steps, between which others run.
const inSteps = (connection: Connection): Sql => ({
  ...connection,
  all(text, params) {
    // What writes has written everything before its first row is read, and is never that much.
    if (!text.startsWith("SELECT")) return connection.all(text, params);
    return readAll(connection.rows(text, params), (row) => row);
  },
  each: (text, params, read) => readAll(connection.values(text, params), read),
});

// What a migration says to SQLite alone is a comment to PostgreSQL, whose tables have no rowid to leave out.
const inSqlite = (script: string) => script.replaceAll("/* WITHOUT ROWID */", "WITHOUT ROWID");
