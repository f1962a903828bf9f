import type pg from "pg";
import { SettlementError } from "../../../domain/errors.ts";

// A statement that takes longer is stuck behind a lock or a server that has stalled.
export const STATEMENT_TIMEOUT_MS = 30_000;

// What every session asks the server for, whatever the defaults of the server, the database and the role are. The server lets
// go of what a daemon has locked that died, froze in a transaction or is cut off; longer than netting a batch ever takes.
const SETTINGS = {
  // An acknowledgement means that it is on disk.
  synchronous_commit: "on",
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: 20_000,
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 10_000,
};

export const SESSION_OPTIONS = Object.entries(SETTINGS)
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(" ");

// A migration or an audit takes as long as the ledger is large. For the transaction that it runs in.
export const WITHOUT_TIMEOUT = "SET LOCAL statement_timeout = 0";

// Asked of every new connection, because a failover or a pooler may bring another server: whether it keeps what it
// acknowledges, and takes any. A server for tests, whose data nobody misses, says so itself.
export async function checkSession(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<Record<string, string | null>>(
    `SELECT current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes, current_setting('transaction_read_only') AS read_only,
       current_setting('settlement.expendable', true) AS expendable`,
  );
  const [{ synchronous_commit, fsync, full_page_writes, read_only, expendable } = {}] = rows;
  if (read_only !== "off") throw refusal("the server only reads: it is a standby, or read-only by default");
  if (synchronous_commit !== "on") {
    throw refusal(`synchronous_commit is ${synchronous_commit} although it was asked for: look at what is in between`);
  }
  if (expendable === "on") return;
  for (const [name, value] of Object.entries({ fsync, full_page_writes })) {
    if (value !== "on")
      throw refusal(`the server runs with ${name}=${value}, and a crash would lose what it acknowledged`);
  }
}

function refusal(reason: string): SettlementError {
  return new SettlementError("ledger_unavailable", `the ledger cannot be kept here: ${reason}`, { retryable: true });
}
