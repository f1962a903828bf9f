import { statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { LRUCache } from "lru-cache";
import { SettlementError } from "../../../domain/errors.ts";
import { letOthersRun } from "../../../domain/scheduling/letOthersRun.ts";
import type { Param, Row, Sql, Value } from "../sql.ts";

// Charge ids are hashes, so that accruals touch their index all over: it should be in memory.
// A commit writes whole pages. Those of a group are then fewer, and a commit of its own is hardly slower.
const PAGE_BYTES = 8192;
const CACHE_KIB = 24 * 1024;
// Above this the commit itself moves them, as SQLite does of its own accord: the other thread reads something long, or has failed.
const MAX_LOG_PAGES = 40_000;
// How long opening a file may wait for another process.
const OPEN_TIMEOUT_MS = 5_000;
// SQLite itself waits without letting anything else happen in this process, so it is given no more than another's commit takes.
const BUSY_IN_SQLITE_MS = 10;
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
export const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
export const NO_LOCKS = { forUpdate: "", skipLocked: "" };

// One connection to a file.
export type Connection = Omit<Sql, "all" | "run"> & {
  all(text: string, params?: readonly Param[]): Row[];
  run(text: string, params?: readonly Param[]): number;
  rows(text: string, params?: readonly Param[]): Iterator<Row>;
  values(text: string, params: readonly Param[]): Iterator<readonly Value[]>;
  script(text: string): void;
  // Those that are not in the file yet.
  pagesInLog(): number;
  checkpoint(): void;
  rollback(): void;
  close(): void;
};

export function connect(path: string, setting: string, { check }: { check: boolean }): Connection {
  const database = attempt(() => new DatabaseSync(path, { readBigInts: true, timeout: OPEN_TIMEOUT_MS }));
  const named = new LRUCache<string, Prepared>({ max: MAX_STATEMENTS });
  const unnamed = new LRUCache<string, Prepared>({ max: MAX_STATEMENTS });

  function prepare(text: string, nameless = false): Prepared {
    const statements = nameless ? unnamed : named;
    const known = statements.get(text);
    if (known !== undefined) return known;
    const { statement: plain, order } = translate(text);
    const prepared = { statement: database.prepare(plain), order };
    if (nameless) prepared.statement.setReturnArrays(true);
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

  // Values without names take a third less time than rows with them.
  const iterate = (text: string, params: readonly Param[]) =>
    attempt(() => {
      const { statement, order } = prepare(text, true);
      return statement.iterate(...bind(params, order)) as Iterator<unknown> as Iterator<readonly Value[]>;
    });

  const looking = database.prepare("PRAGMA wal_checkpoint(NOOP)");

  return {
    locks: NO_LOCKS,
    now: NOW,
    hasOwnClock: false,
    home: homeOf(path),
    takesArrays: false,
    all: (text, params = []) =>
      attempt(() => {
        const { statement, order } = prepare(text);
        return statement.all(...bind(params, order)) as Row[];
      }),
    each: (text, params, read) => readAll(iterate(text, params), read),
    rows: (text, params = []) =>
      attempt(() => {
        const { statement, order } = prepare(text);
        return statement.iterate(...bind(params, order)) as Iterator<Row>;
      }),
    values: iterate,
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

export function translate(text: string): { statement: string; order: number[] } {
  const order: number[] = [];
  const statement = text.replaceAll(PARAMETER, (_, position: string) => {
    order.push(Number(position) - 1);
    return "?";
  });
  return { statement, order };
}

const ROWS_AT_ONCE = 1_000;

export function readAll<Item, T>(reading: Iterator<Item>, read: (item: Item) => T): T[] | Promise<T[]> {
  const found: T[] = [];
  const step = () => attempt(() => readSome(reading, read, found));
  if (step()) return found;
  return (async () => {
    do await letOthersRun();
    while (!step());
    return found;
  })();
}

// Whether there are no more.
function readSome<Item, T>(reading: Iterator<Item>, read: (item: Item) => T, found: T[]): boolean {
  for (let i = 0; i < ROWS_AT_ONCE; i++) {
    const { done, value } = reading.next();
    if (done) return true;
    found.push(read(value));
  }
  return false;
}

export function damageIn(path: string, verdict: unknown): SettlementError | null {
  // A heading may come before what is wrong.
  const last = String(verdict).split("\n").at(-1);
  if (last === "ok") return null;
  return new SettlementError("ledger_corrupt", `the ledger ${path} is damaged: ${last}; restore it from a copy`);
}

// A number would be bound as a floating-point value.
export function bind(params: readonly Param[], order: readonly number[]): (string | bigint | null)[] {
  const bound = new Array<string | bigint | null>(order.length);
  for (let i = 0; i < order.length; i++) {
    const param = params[order[i] ?? 0] ?? null;
    if (typeof param === "object" && param !== null) throw new TypeError("SQLite takes no list as one parameter");
    bound[i] = typeof param === "number" ? BigInt(param) : param;
  }
  return bound;
}

export function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw classify(error);
  }
}

export function classify(error: unknown): unknown {
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

export const isBusy = (error: unknown) => sqliteCodeOf(error) === BUSY;

// SQLite's primary result code, which is the lowest byte, or null for what is not SQLite's.
function sqliteCodeOf(error: unknown): number | null {
  const own = error instanceof SettlementError ? error.cause : error;
  return own instanceof Error && "errcode" in own && typeof own.errcode === "number" ? own.errcode & 0xff : null;
}

// A file that was put in the place of another has another inode, or if that was free again another time of birth.
function homeOf(path: string): string {
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  return `'file ${ino} of ${birthtimeNs}'`;
}
