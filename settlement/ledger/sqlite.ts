import { DatabaseSync, type StatementSync } from "node:sqlite";
import { SettlementError } from "../domain/errors.ts";
import type { Database, Param, Row, Sql } from "./sql.ts";

export type SqliteOptions = {
  path: string;
  // A bound on the size of the file, in pages of 8 KiB.
  maxPages?: number;
};

// Pages of the log that are moved into the file at once; a page that was written many times is then moved once. 40 MiB.
const CHECKPOINT_PAGES = 10_000;
// Charge ids are hashes, so that accruals touch their index all over: it should be in memory.
// A commit writes whole pages. Those of a group are then fewer, and a commit of its own is hardly slower.
const PAGE_BYTES = 8192;
const CACHE_KIB = 64 * 1024;
const BUSY_TIMEOUT_MS = 5_000;
// More texts than the verbs have; lists of many lengths make the rest.
const MAX_STATEMENTS = 500;

// Primary result codes of SQLite that are not the fault of a statement: busy, locked, out of memory, input or output
// failed, disk full, cannot open, protocol.
const UNAVAILABLE = new Set([5, 6, 7, 10, 13, 14, 15]);
const CORRUPT = new Set([11, 26]);

const SETTINGS = `
  PRAGMA page_size = ${PAGE_BYTES};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA cache_size = -${CACHE_KIB};
  PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
`;

const NO_LOCKS = { forUpdate: "", skipLocked: "" };

// One file with one writing connection. Work inside a transaction never waits for anything but the processor, and
// transactions follow one another, so that nothing else gets onto the connection in between. A second connection reads
// what is committed.
export function openSqlite({ path, maxPages }: SqliteOptions): Database {
  const writer = connect(path);
  if (maxPages !== undefined) writer.script(`PRAGMA max_page_count = ${maxPages}`);
  const reader = connect(path);
  let last: Promise<unknown> = Promise.resolve();
  let open = true;

  function exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(() => {
      if (!open) throw new SettlementError("ledger_unavailable", "The ledger is closed.");
      return work();
    });
    last = result.catch(() => undefined);
    return result;
  }

  async function committed<T>(work: () => Promise<T>, mode = "IMMEDIATE"): Promise<T> {
    writer.script(`BEGIN ${mode}`);
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
    transaction: (work) => exclusively(() => committed(() => work(writer, { mayHaveCommitted: false }))),
    migration: (work) => exclusively(() => committed(() => work(writer))),
    snapshot: (work) => exclusively(() => committed(() => work(writer), "DEFERRED")),
    read: reader,
    async close() {
      await last;
      if (!open) return;
      open = false;
      reader.close();
      writer.close();
    },
  };
}

type Connection = Sql & {
  all(text: string, params?: readonly Param[]): Row[];
  script(text: string): void;
  rollback(): void;
  close(): void;
};

function connect(path: string): Connection {
  const database = attempt(() => new DatabaseSync(path, { readBigInts: true, timeout: BUSY_TIMEOUT_MS }));
  const statements = new Map<string, Prepared>();

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
    if (statements.size >= MAX_STATEMENTS) statements.delete(statements.keys().next().value ?? "");
    statements.set(text, prepared);
    return prepared;
  }

  try {
    attempt(() => {
      database.exec(SETTINGS);
      // A heading may come before what is wrong.
      const verdict = String(database.prepare("PRAGMA quick_check(1)").get()?.quick_check).split("\n").at(-1);
      if (verdict !== "ok") {
        throw new SettlementError(
          "ledger_corrupt",
          `The ledger ${path} is damaged: ${verdict}. Restore it from a copy.`,
        );
      }
    });
  } catch (error) {
    database.close();
    throw error;
  }

  return {
    locks: NO_LOCKS,
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
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return error;
  // The lowest byte is the primary code.
  const code = error.errcode & 0xff;
  if (CORRUPT.has(code)) {
    return new SettlementError("ledger_corrupt", `The ledger is damaged: ${error.message}.`, { cause: error });
  }
  if (UNAVAILABLE.has(code)) {
    return new SettlementError("ledger_unavailable", `The ledger cannot be written: ${error.message}.`, {
      retryable: true,
      cause: error,
    });
  }
  return error;
}
