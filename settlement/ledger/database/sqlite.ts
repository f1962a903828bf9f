import { statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { SettlementError } from "../../domain/errors.ts";
import { createPrivately } from "./createPrivately.ts";
import type { Database, Param, Row, Sql } from "./sql.ts";

export type SqliteOptions = {
  path: string;
  // The setting that names the file, for what is said about it.
  setting?: string;
  // A bound on the size of the file, in pages of 8 KiB.
  maxPages?: number;
  // How long a transaction waits for another process that writes.
  busyTimeoutMs?: number;
};

// Pages of the log that are moved into the file at once; a page that was written many times is then moved once. 40 MiB.
const CHECKPOINT_PAGES = 10_000;
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

const SETTINGS = `
  PRAGMA page_size = ${PAGE_BYTES};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA cache_size = -${CACHE_KIB};
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
`;

// That of the machine, which all who share the file are on.
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const NO_LOCKS = { forUpdate: "", skipLocked: "" };

// One file with one writing connection. Work inside a transaction never waits for anything but the processor, and
// transactions follow one another, so that nothing else gets onto the connection in between. A second connection reads
// what is committed.
export function openSqlite(options: SqliteOptions): Database {
  const { path, setting = "SETTLEMENT_LEDGER", maxPages, busyTimeoutMs = BUSY_TIMEOUT_MS } = options;
  createPrivately(path, setting);
  const writer = connect(path, setting, { check: true });
  const home = homeOf(path);
  if (maxPages !== undefined) writer.script(`PRAGMA max_page_count = ${maxPages}`);
  const reader = connect(path, setting, { check: false });
  let last: Promise<unknown> = Promise.resolve();
  let open = true;

  // The wait counts from when something is asked, so that many who wait for the same process are all answered in time.
  function exclusively<T>(work: (untilMs: number) => Promise<T>): Promise<T> {
    const untilMs = performance.now() + busyTimeoutMs;
    const result = last.then(() => {
      if (!open) throw new SettlementError("ledger_unavailable", "the ledger is closed");
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

  async function committed<T>(work: () => Promise<T>, untilMs: number, mode = "IMMEDIATE"): Promise<T> {
    await begin(mode, untilMs);
    try {
      const result = await work();
      writer.script("COMMIT");
      return result;
    } catch (error) {
      writer.rollback();
      throw error;
    }
  }

  return {
    transaction: (work) =>
      exclusively((untilMs) => committed(() => work(writer, { mayHaveCommitted: false }), untilMs)),
    migration: (work) => exclusively((untilMs) => committed(() => work(writer), untilMs)),
    snapshot: (work) => exclusively((untilMs) => committed(() => work(writer), untilMs, "DEFERRED")),
    writers: 1,
    read: reader,
    home: async () => home,
    async close() {
      await last;
      if (!open) return;
      open = false;
      reader.close();
      writer.close();
    },
  };
}

// A file that was put in the place of another has another inode, or if that was free again another time of birth.
function homeOf(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  return `file ${ino} of ${birthtimeNs}`;
}

type Connection = Sql & {
  all(text: string, params?: readonly Param[]): Row[];
  script(text: string): void;
  rollback(): void;
  close(): void;
};

// Looking the whole file through takes seconds for a million charges, so that one of several connections does it.
function connect(path: string, setting: string, { check }: { check: boolean }): Connection {
  const database = attempt(() => new DatabaseSync(path, { readBigInts: true, timeout: BUSY_TIMEOUT_MS }));
  const statements = new LRUCache<string, Prepared>({ max: MAX_STATEMENTS });

  function prepare(text: string): Prepared {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const order: number[] = [];
    const statement = database.prepare(
      text.replaceAll(PARAMETER, (_, position: string) => {
        order.push(Number(position) - 1);
        return "?";
      }),
    );
    const prepared = { statement, order };
    statements.set(text, prepared);
    return prepared;
  }

  try {
    attempt(() => {
      database.exec(SETTINGS);
      if (!check) return;
      // A heading may come before what is wrong.
      const verdict = String(database.prepare("PRAGMA quick_check(1)").get()?.quick_check).split("\n").at(-1);
      if (verdict !== "ok") {
        throw new SettlementError(
          "ledger_corrupt",
          `the ledger ${path} is damaged: ${verdict}; restore it from a copy`,
        );
      }
    });
    database.exec(`PRAGMA busy_timeout = ${BUSY_IN_SQLITE_MS}`);
  } catch (error) {
    database.close();
    if (sqliteCodeOf(error) !== NOT_A_DATABASE) throw error;
    throw new SettlementError("ledger_corrupt", `${setting} ${path} is not a SQLite database; name another file`, {
      cause: error,
    });
  }

  return {
    locks: NO_LOCKS,
    now: NOW,
    all: (text, params = []) =>
      attempt(() => {
        const { statement, order } = prepare(text);
        return statement.all(...bind(params, order)) as Row[];
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
