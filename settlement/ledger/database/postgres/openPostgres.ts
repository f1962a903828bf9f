import pg from "pg";
import type { Random } from "../../../clock.ts";
import { SettlementError } from "../../../domain/errors.ts";
import type { Attempt, Database, Param, Row, Sql, TransactionOptions, Value } from "../sql.ts";
import { type Answer, answered, ConnectionLost, type Conversation, createConversation } from "./conversation.ts";
import { readAddress } from "./readAddress.ts";
import { checkSession, SESSION_OPTIONS, WITHOUT_TIMEOUT } from "./session.ts";
import { cut, unlessSilent } from "./silence.ts";

export type PostgresOptions = {
  url: string;
  maxConnections?: number;
  random?: Random;
};

const MAX_CONNECTIONS = 8;
// While the server works on one group of calls, this process makes the next one.
const WRITERS = 2;
// A transaction is tried this often before the caller hears that the ledger is unavailable.
const MAX_TRIES = 6;
const FIRST_WAIT_MS = 20;
// And for so long, where each try takes its time.
const GIVE_UP_MS = 6_000;
const CONNECT_TIMEOUT_MS = 3_000;

// Not that of the transaction's beginning: a lock may have been waited for since.
const NOW = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
// Another cluster, or the same one after somebody else was promoted to be its primary.
const HOME = `(SELECT 'cluster ' || system_identifier::text || ', timeline ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
  || ', database ' || (SELECT oid::text FROM pg_database WHERE datname = current_database()) FROM pg_control_system())`;
const LOCKS = { forUpdate: "FOR UPDATE", skipLocked: "FOR UPDATE SKIP LOCKED" };
// Any fixed number: the daemons that share a database take turns by it when they migrate.
const MIGRATION_LOCK = 5_241_993n;

// Classes of SQLSTATE. Transient: the same transaction may succeed when it is done again, and has had no effect.
const TRANSIENT = new Set(["40001", "40P01", "55P03"]);
// Connection exception, insufficient resources, operator intervention, system error.
const UNAVAILABLE_CLASSES = new Set(["08", "53", "57", "58"]);
const CORRUPT_CLASS = "XX";
// After these the server hangs up: connection exception, operator intervention, a transaction that was idle for too long.
const LAST_WORDS = /^(08|57P0[1-5]|25P0[34])/;
// A server that only reads, as a standby does: somebody else is, or will be, the one that writes.
const READ_ONLY = "25006";

// Several daemons may share the database. Transactions are short and read committed: every condition that money hangs on
// is in the statement that changes the row.
export function openPostgres({
  url,
  maxConnections = MAX_CONNECTIONS,
  random = Math.random,
}: PostgresOptions): Database {
  const config: pg.ClientConfig = {
    ...readAddress(url),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    // A statement is sent without waiting for the answer to the one before it.
    pipeline: true,
    options: SESSION_OPTIONS,
  };
  const pool = new pg.Pool({
    ...config,
    max: maxConnections,
    onConnect: async (client) => {
      // What breaks a connection is heard by the queries that it breaks. Between two of them, and after the last, nobody
      // listens, and what nobody listens to would end the process.
      client.on("error", ignore);
      try {
        await unlessSilent(client, config, checkSession(client));
      } catch (error) {
        cut(client);
        throw error;
      }
    },
  });
  // A connection that breaks while nobody uses it is replaced by its pool.
  pool.on("error", ignore);

  async function transaction<T>(
    work: (sql: Scripted, attempt: Attempt) => Promise<T>,
    { repeatable }: TransactionOptions,
    isolation = "READ COMMITTED",
  ): Promise<T> {
    let mayHaveCommitted = false;
    return untilDone(async () => {
      const outcome = await attempt(connect, isolation, (sql) => work(sql, { mayHaveCommitted }));
      if (outcome.kind === "unknown") mayHaveCommitted = true;
      return outcome.kind === "unknown" && !repeatable
        ? { kind: "failed", error: unavailable(outcome.error) }
        : outcome;
    });
  }

  // Tries again for as long as that may help, and not for longer than whoever waits can use.
  async function untilDone<T>(attempt: () => Promise<Outcome<T>>): Promise<T> {
    const givenUpAtMs = performance.now() + GIVE_UP_MS;
    for (let tries = 1; ; tries += 1) {
      const outcome = await attempt();
      if (outcome.kind === "committed") return outcome.result;
      if (outcome.kind === "failed") throw outcome.error;
      if (tries === MAX_TRIES || performance.now() > givenUpAtMs) throw unavailable(outcome.error);
      // The wait is random, so that two that got in each other's way do not meet again.
      await waitMs(FIRST_WAIT_MS * 2 ** (tries - 1) * (0.5 + random()));
    }
  }

  async function connect(): Promise<Connection> {
    const client = await answered(pool.connect());
    return { client, conversation: createConversation(client, config) };
  }

  return {
    transaction: (work, options) => transaction(work, options),
    async migration(work) {
      await transaction(
        async (sql) => {
          await sql.all(WITHOUT_TIMEOUT);
          await sql.all("SELECT 1 FROM pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
          await work(sql);
        },
        { repeatable: true },
      );
    },
    snapshot: (work) =>
      transaction(
        async (sql) => {
          await sql.all(WITHOUT_TIMEOUT);
          return work(sql);
        },
        { repeatable: true },
        "REPEATABLE READ READ ONLY",
      ),
    writers: WRITERS,
    read: { takesArrays: true, all: (text, params) => untilDone(() => attemptRead(connect, text, params)) },
    async close() {
      if (!pool.ending) await pool.end();
    },
  };
}

const ignore = () => undefined;

type Outcome<T> =
  | { kind: "committed"; result: T }
  // Nothing was changed, and it may go better next time.
  | { kind: "retry"; error: unknown }
  // The connection was lost after COMMIT was sent and before its answer came.
  | { kind: "unknown"; error: unknown }
  | { kind: "failed"; error: unknown };

type Connection = { client: pg.PoolClient; conversation: Conversation };

type Scripted = Sql & { script(text: string): Promise<void> };

async function attemptRead(
  connect: () => Promise<Connection>,
  text: string,
  params?: readonly Param[],
): Promise<Outcome<Row[]>> {
  let connection: Connection | null = null;
  let broken = false;
  try {
    connection = await connect();
    return { kind: "committed", result: rowsOf(await connection.conversation.ask(text, params)) };
  } catch (error) {
    broken = isConnectionLost(error);
    return verdictOn(error);
  } finally {
    connection?.client.release(broken);
  }
}

async function attempt<T>(
  connect: () => Promise<Connection>,
  isolation: string,
  work: (sql: Scripted) => Promise<T>,
): Promise<Outcome<T>> {
  let connection: Connection;
  try {
    connection = await connect();
  } catch (error) {
    return verdictOn(error);
  }
  const { client, conversation } = connection;
  const sent: Promise<unknown>[] = [];
  // After the first that fails, the server refuses all that come behind it, whatever is waited for: what it said to that one is the
  // reason.
  let reason: { error: unknown } | null = null;
  const noted = <T>(answer: Promise<T>): Promise<T> => {
    answer.catch((error) => {
      reason ??= { error };
    });
    return answer;
  };
  const send = (text: string, params?: readonly Param[]) => void sent.push(noted(conversation.send(text, params)));
  let committing = false;
  let broken = false;
  try {
    send(`BEGIN ISOLATION LEVEL ${isolation}`);
    const result = await work({
      locks: LOCKS,
      now: NOW,
      hasOwnClock: true,
      home: HOME,
      takesArrays: true,
      all: async (text, params) => rowsOf(await noted(conversation.ask(text, params))),
      each: async (text, params, read) => (await noted(conversation.ask(text, params))).rows.map(read),
      run: (text, params) => noted(conversation.run(text, params)),
      send,
      script: (text) => noted(conversation.script(text)),
    });
    committing = true;
    // If one of those that were sent has failed, its error is the first to come, and the commit was none.
    const [{ command }] = await Promise.all([conversation.ask("COMMIT"), ...sent]);
    // This is how PostgreSQL answers to COMMIT when a statement has failed before.
    if (command !== "COMMIT") throw new Error(`the transaction was not committed: the answer was ${command}`);
    return { kind: "committed", result };
  } catch (failure) {
    const { error } = reason ?? { error: failure };
    const verdict = verdictOn(error);
    broken = isConnectionLost(error) || isConnectionLost(failure);
    if (committing && broken) return { kind: "unknown", error };
    conversation.giveUp(error);
    if (!broken) {
      broken = await conversation.ask("ROLLBACK").then(
        () => false,
        () => true,
      );
    }
    return verdict;
  } finally {
    client.release(broken);
  }
}

function verdictOn(error: unknown): { kind: "retry" | "failed"; error: unknown } {
  if (isConnectionLost(error)) return { kind: "retry", error };
  if (error instanceof SettlementError && error.retryable) return { kind: "retry", error };
  if (error instanceof pg.DatabaseError && TRANSIENT.has(error.code ?? "")) return { kind: "retry", error };
  return { kind: "failed", error: classified(error) };
}

// The server says so as its last word, or the socket does. One that only reads is left for the one that writes.
function isConnectionLost(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return LAST_WORDS.test(error.code ?? "") || error.code === READ_ONLY;
  return error instanceof ConnectionLost;
}

function classified(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const code = error.code ?? "";
  if (code.startsWith(CORRUPT_CLASS)) {
    return new SettlementError("ledger_corrupt", `the ledger is damaged: ${error.message}`, { cause: error });
  }
  return UNAVAILABLE_CLASSES.has(code.slice(0, 2)) ? unavailable(error) : error;
}

function unavailable(error: unknown): SettlementError {
  if (error instanceof SettlementError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new SettlementError("ledger_unavailable", `the ledger cannot be reached: ${reason}`, {
    retryable: true,
    cause: error,
  });
}

function rowsOf({ columns, rows }: Answer): Row[] {
  return rows.map((values) => {
    const row: Record<string, Value> = {};
    for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i] as Value;
    return row;
  });
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
