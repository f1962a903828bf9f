import { createHash } from "node:crypto";
import pg from "pg";
import type { Random } from "../clock.ts";
import { SettlementError } from "../domain/errors.ts";
import type { Attempt, Database, Param, Row, Sql, TransactionOptions } from "./sql.ts";

export type PostgresOptions = {
  url: string;
  maxConnections?: number;
  random?: Random;
};

const MAX_CONNECTIONS = 8;
// A transaction is tried this often before the caller hears that the ledger is unavailable.
const MAX_TRIES = 6;
const FIRST_WAIT_MS = 20;
const CONNECT_TIMEOUT_MS = 5_000;
// A statement that takes longer is stuck behind a lock or a dead server.
const STATEMENT_TIMEOUT_MS = 30_000;
const MAX_NAMED_STATEMENTS = 200;

const INT8 = 20;
const INT4 = 23;
const LOCKS = { forUpdate: "FOR UPDATE", skipLocked: "FOR UPDATE SKIP LOCKED" };
// Any fixed number: the daemons that share a database take turns by it when they migrate.
const MIGRATION_LOCK = 5_241_993n;

// Classes of SQLSTATE. Transient: the same transaction may succeed when it is done again, and has had no effect.
const TRANSIENT = new Set(["40001", "40P01", "55P03"]);
// Connection exception, insufficient resources, operator intervention, system error.
const UNAVAILABLE_CLASSES = new Set(["08", "53", "57", "58"]);
const CORRUPT_CLASS = "XX";

// Several daemons may share the database. Transactions are short and read committed: every condition that money hangs on
// is in the statement that changes the row.
export function openPostgres({
  url,
  maxConnections = MAX_CONNECTIONS,
  random = Math.random,
}: PostgresOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    // The server's time limit answers first; this one is for a server that does not answer at all.
    query_timeout: 2 * STATEMENT_TIMEOUT_MS,
    // An acknowledgement means that it is on disk, whatever the server's default is.
    options: "-c synchronous_commit=on",
    types: { getTypeParser },
  });
  // A connection that breaks while nobody uses it is replaced by the pool.
  pool.on("error", () => undefined);

  async function transaction<T>(
    work: (sql: Sql, attempt: Attempt) => Promise<T>,
    { repeatable }: TransactionOptions,
    isolation = "READ COMMITTED",
  ): Promise<T> {
    let mayHaveCommitted = false;
    for (let tries = 1; ; tries += 1) {
      const outcome = await attempt(pool, isolation, (sql) => work(sql, { mayHaveCommitted }));
      if (outcome.kind === "committed") return outcome.result;
      if (outcome.kind === "failed") throw outcome.error;
      if (outcome.kind === "unknown") mayHaveCommitted = true;
      if (tries === MAX_TRIES || (mayHaveCommitted && !repeatable)) throw unavailable(outcome.error);
      // The wait is random, so that two that got in each other's way do not meet again.
      await waitMs(FIRST_WAIT_MS * 2 ** (tries - 1) * (0.5 + random()));
    }
  }

  return {
    transaction: (work, options) => transaction(work, options),
    async migration(work) {
      await transaction(
        async (sql) => {
          await sql.all("SELECT 1 FROM pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
          await work({ ...sql, script: async (text) => void (await sql.all(text)) });
        },
        { repeatable: true },
      );
    },
    snapshot: (work) => transaction(work, { repeatable: true }, "REPEATABLE READ READ ONLY"),
    read: {
      async all(text, params = []) {
        for (let tries = 1; ; tries += 1) {
          try {
            return await query(pool, text, params).then(({ rows }) => rows);
          } catch (error) {
            const { kind } = verdictOn(error);
            if (kind === "failed") throw classified(error);
            if (tries === MAX_TRIES) throw unavailable(error);
            await waitMs(FIRST_WAIT_MS * 2 ** (tries - 1) * (0.5 + random()));
          }
        }
      },
    },
    async close() {
      if (!pool.ending) await pool.end();
    },
  };
}

type Outcome<T> =
  | { kind: "committed"; result: T }
  // Nothing was changed, and it may go better next time.
  | { kind: "retry"; error: unknown }
  // The connection was lost after COMMIT was sent and before its answer came.
  | { kind: "unknown"; error: unknown }
  | { kind: "failed"; error: unknown };

async function attempt<T>(pool: pg.Pool, isolation: string, work: (sql: Sql) => Promise<T>): Promise<Outcome<T>> {
  let client: pg.PoolClient;
  try {
    client = await answered(pool.connect());
  } catch (error) {
    return verdictOn(error);
  }
  // An idle connection's error is the pool's business; this one's is heard by the query that it breaks.
  const ignore = () => undefined;
  client.on("error", ignore);
  let committing = false;
  let broken = false;
  try {
    await query(client, `BEGIN ISOLATION LEVEL ${isolation}`);
    const result = await work({
      locks: LOCKS,
      all: async (text, params = []) => (await query(client, text, params)).rows,
      run: async (text, params = []) => (await query(client, text, params)).rowCount ?? 0,
    });
    committing = true;
    const { command } = await query(client, "COMMIT");
    // This is how PostgreSQL answers to COMMIT when a statement has failed before.
    if (command !== "COMMIT") throw new Error(`The transaction was not committed: the answer was ${command}`);
    return { kind: "committed", result };
  } catch (error) {
    const verdict = verdictOn(error);
    broken = isConnectionLost(error);
    if (committing && broken) return { kind: "unknown", error };
    if (!broken) {
      broken = await query(client, "ROLLBACK").then(
        () => false,
        () => true,
      );
    }
    return verdict;
  } finally {
    client.off("error", ignore);
    client.release(broken);
  }
}

function verdictOn(error: unknown): { kind: "retry" | "failed"; error: unknown } {
  if (isConnectionLost(error)) return { kind: "retry", error };
  if (error instanceof pg.DatabaseError && TRANSIENT.has(error.code ?? "")) return { kind: "retry", error };
  return { kind: "failed", error: classified(error) };
}

// The server says so as its last word, or the socket does.
function isConnectionLost(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(08|57P0[1-5])/.test(error.code ?? "");
  return error instanceof ConnectionLost;
}

// What `pg` throws for a lost connection has no type and no code, so it is given one where it appears: whatever fails
// without an answer of the server, be it refused, cut or late.
class ConnectionLost extends Error {}

function classified(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const code = error.code ?? "";
  if (code.startsWith(CORRUPT_CLASS)) {
    return new SettlementError("ledger_corrupt", `The ledger is damaged: ${error.message}.`, { cause: error });
  }
  return UNAVAILABLE_CLASSES.has(code.slice(0, 2)) ? unavailable(error) : error;
}

function unavailable(error: unknown): SettlementError {
  const reason = error instanceof Error ? error.message : String(error);
  return new SettlementError("ledger_unavailable", `The ledger cannot be reached: ${reason}.`, {
    retryable: true,
    cause: error,
  });
}

const statementNames = new Map<string, string>();

function query(on: pg.Pool | pg.PoolClient, text: string, params: readonly Param[] = []): Promise<pg.QueryResult<Row>> {
  const values = params.map((param) => (param === null ? null : param.toString()));
  const name = nameOf(text, values.length);
  return answered(on.query<Row>(name === null ? { text, values } : { name, text, values }));
}

async function answered<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof pg.DatabaseError) throw error;
    throw new ConnectionLost(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

// A statement with a name is planned once per connection. Scripts have no parameters, and lists of every length would
// make too many names.
function nameOf(text: string, parameters: number): string | null {
  if (parameters === 0) return null;
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size >= MAX_NAMED_STATEMENTS) return null;
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  statementNames.set(text, name);
  return name;
}

// Every integer is a bigint, as from SQLite.
function getTypeParser(oid: number, format?: "text" | "binary") {
  return oid === INT8 || oid === INT4 ? BigInt : pg.types.getTypeParser(oid, format);
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
