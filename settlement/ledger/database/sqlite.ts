import { statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { SettlementError } from "../../domain/errors.ts";
import { letOthersRun } from "../../domain/letOthersRun.ts";
import { createPrivately } from "./createPrivately.ts";
import { createSqliteReader } from "./createSqliteReader.ts";
import type { Database, Param, Reader, Row, Sql } from "./sql.ts";

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
// Above this the commit itself moves them, as SQLite does of its own accord: the other thread reads something long, or has failed.
const MAX_LOG_PAGES = 40_000;
// Charge ids are hashes, so that accruals touch their index all over: it should be in memory.
// A commit writes whole pages. Those of a group are then fewer, and a commit of its own is hardly slower.
const PAGE_BYTES = 8192;
const CACHE_KIB = 24 * 1024;
const BUSY_TIMEOUT_MS = 5_000;
// SQLite itself waits without letting anything else happen in this process, so it is given no more than another's commit takes.
const BUSY_IN_SQLITE_MS = 10;
const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;
// More texts than the verbs have; lists of many lengths make the rest.
const MAX_STATEMENTS = 500;

// Primary result codes of SQLite that are not the fault of a statement: busy, locked, out of memory, input or output
// failed, disk full, cannot open, protocol.
const UNAVAILABLE = new Set([5, 6, 7, 10, 13, 14, 15]);
const BUSY = 5;
const CORRUPT = new Set([11, 26]);
const NOT_A_DATABASE = 26;

// What a statement may have to undo is kept in memory: beside every group of accruals it would be written to a file first.
const SETTINGS = `
  PRAGMA page_size = ${PAGE_BYTES};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA cache_size = -${CACHE_KIB};
  PRAGMA temp_store = MEMORY;
  PRAGMA wal_autocheckpoint = ${MAX_LOG_PAGES};
`;

// That of the machine, which all who share the file are on.
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const NO_LOCKS = { forUpdate: "", skipLocked: "" };

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
  const home = homeOf(path);
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
      if (!open) throw new SettlementError("ledger_unavailable", "the ledger is closed");
      if (damage !== null) throw damage;
      return work(untilMs);
    });
    last = result.catch(() => undefined);
    return result;
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
    try {
      const result = await work();
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
        if (!open) throw new SettlementError("ledger_unavailable", "the ledger is closed");
        if (damage !== null) throw damage;
        return isLarge() ? inThread(work) : inPlace(work);
      });
      lastSnapshot = result.catch(() => undefined);
      return result;
    },
    writers: 1,
    read: reader,
    home: async () => home,
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
    const rows: Row[] = [];
    const reading = connection.each(text, params);
    const step = () => attempt(() => readSome(reading, rows));
    if (step()) return rows;
    return (async () => {
      do await letOthersRun();
      while (!step());
      return rows;
    })();
  },
});

const ROWS_AT_ONCE = 1_000;

// Whether there are no more.
function readSome(reading: Iterator<Row>, rows: Row[]): boolean {
  for (let i = 0; i < ROWS_AT_ONCE; i++) {
    const { done, value } = reading.next();
    if (done) return true;
    rows.push(value);
  }
  return false;
}

// What a migration says to SQLite alone is a comment to PostgreSQL, whose tables have no rowid to leave out.
const inSqlite = (script: string) => script.replaceAll("/* WITHOUT ROWID */", "WITHOUT ROWID");

// A file that was put in the place of another has another inode, or if that was free again another time of birth.
function homeOf(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  return `file ${ino} of ${birthtimeNs}`;
}

type Connection = Sql & {
  all(text: string, params?: readonly Param[]): Row[];
  each(text: string, params?: readonly Param[]): Iterator<Row>;
  script(text: string): void;
  // Those that are not in the file yet.
  pagesInLog(): number;
  checkpoint(): void;
  rollback(): void;
  close(): void;
};

function connect(path: string, setting: string, { check }: { check: boolean }): Connection {
  const database = attempt(() => new DatabaseSync(path, { readBigInts: true, timeout: BUSY_TIMEOUT_MS }));
  const statements = new LRUCache<string, Prepared>({ max: MAX_STATEMENTS });

  function prepare(text: string): Prepared {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const { statement: plain, order } = translate(text);
    const prepared = { statement: database.prepare(plain), order };
    statements.set(text, prepared);
    return prepared;
  }

  try {
    attempt(() => {
      database.exec(SETTINGS);
      if (!check) return;
      const damage = damageIn(path, database.prepare("PRAGMA quick_check(1)").get()?.quick_check);
      if (damage !== null) throw damage;
    });
    database.exec(`PRAGMA busy_timeout = ${BUSY_IN_SQLITE_MS}`);
  } catch (error) {
    database.close();
    if (sqliteCodeOf(error) !== NOT_A_DATABASE) throw error;
    throw new SettlementError("ledger_corrupt", `${setting} ${path} is not a SQLite database; name another file`, {
      cause: error,
    });
  }

  const looking = database.prepare("PRAGMA wal_checkpoint(NOOP)");

  return {
    locks: NO_LOCKS,
    now: NOW,
    all: (text, params = []) =>
      attempt(() => {
        const { statement, order } = prepare(text);
        return statement.all(...bind(params, order)) as Row[];
      }),
    each: (text, params = []) =>
      attempt(() => {
        const { statement, order } = prepare(text);
        return statement.iterate(...bind(params, order)) as Iterator<Row>;
      }),
    run: (text, params = []) =>
      attempt(() => {
        const { statement, order } = prepare(text);
        return Number(statement.run(...bind(params, order)).changes);
      }),
    send: (text, params = []) =>
      attempt(() => {
        const { statement, order } = prepare(text);
        statement.run(...bind(params, order));
      }),
    script: (text) => attempt(() => database.exec(text)),
    pagesInLog: () =>
      attempt(() => {
        const { log, checkpointed } = looking.get() as { log: bigint; checkpointed: bigint };
        return Number(log - checkpointed);
      }),
    checkpoint: () => attempt(() => database.exec("PRAGMA wal_checkpoint(PASSIVE)")),
    // SQLite has already rolled back by itself after some failures.
    rollback() {
      if (database.isTransaction) database.exec("ROLLBACK");
    },
    close: () => database.close(),
  };
}

// SQLite looks numbered parameters up one by one, which takes as long as everything else together in a statement with
// many; plain ones in the order of the text are bound at once.
type Prepared = { statement: StatementSync; order: readonly number[] };

const PARAMETER = /\$(\d+)/g;

function translate(text: string): { statement: string; order: number[] } {
  const order: number[] = [];
  const statement = text.replaceAll(PARAMETER, (_, position: string) => {
    order.push(Number(position) - 1);
    return "?";
  });
  return { statement, order };
}

function damageIn(path: string, verdict: unknown): SettlementError | null {
  // A heading may come before what is wrong.
  const last = String(verdict).split("\n").at(-1);
  if (last === "ok") return null;
  return new SettlementError("ledger_corrupt", `the ledger ${path} is damaged: ${last}; restore it from a copy`);
}

// A number would be bound as a floating-point value.
function bind(params: readonly Param[], order: readonly number[]): (string | bigint | null)[] {
  return order.map((position) => {
    const param = params[position] ?? null;
    return typeof param === "number" ? BigInt(param) : param;
  });
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw classify(error);
  }
}

function classify(error: unknown): unknown {
  const code = sqliteCodeOf(error);
  if (!(error instanceof Error) || code === null) return error;
  if (CORRUPT.has(code)) {
    return new SettlementError("ledger_corrupt", `the ledger is damaged: ${error.message}`, { cause: error });
  }
  if (UNAVAILABLE.has(code)) {
    const reason =
      code === BUSY
        ? "the ledger is locked by another process, such as a tool that looks into it; end that one"
        : `the ledger cannot be written: ${error.message}`;
    return new SettlementError("ledger_unavailable", reason, { retryable: true, cause: error });
  }
  return error;
}

const isBusy = (error: unknown) => sqliteCodeOf(error) === BUSY;

// SQLite's primary result code, which is the lowest byte, or null for what is not SQLite's.
function sqliteCodeOf(error: unknown): number | null {
  const own = error instanceof SettlementError ? error.cause : error;
  return own instanceof Error && "errcode" in own && typeof own.errcode === "number" ? own.errcode & 0xff : null;
}
