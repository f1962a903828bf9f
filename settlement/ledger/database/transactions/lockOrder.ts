import type { Address } from "viem";
import { SettlementError } from "../../../domain/errors.ts";
import { address, text } from "../decode.ts";
import { allOf, askingWithin, type Insertion, insertionsOf } from "../lists.ts";
import type { Row } from "../sql.ts";
import type { Tx } from "./tx.ts";

// Rows for which daemons that share a database may wait, in the one order in which every transaction locks them; rows of one
// kind are locked in the order of their names. So whoever waits holds only what comes before, and nobody waits in a circle.
// A row that is inserted is locked by its name alone: only who inserts the same name waits for it.
export const LOCK_ORDER = [
  "operators",
  "contests",
  "archives",
  "finalized_blocks",
  "halts",
  "token_implementations",
  "payees",
  "answers",
  "tool_names",
  "new sessions",
  "holds",
  "sessions",
  "unexplained_payments",
  "absorptions",
  "payers",
  "turns",
  "new holds",
  "due_accounts",
  "stats",
  "totals",
  "failure_counts",
] as const;

// Rows for which nobody waits, and why.
//   operators  whoever writes them holds the row of their operator, or those of all operators.
//   sessions   a charge that waits in its session is written by who holds the session. Of those that wait no longer, due ones
//              are taken by who finds them unlocked (SKIP LOCKED), and batched ones are their operator's.
//   archives   whoever moves them into the archive, or back, holds its row.
//   payers     whoever writes what is drawn on a budget, or held for a turn, writes or locks its payer's sums first.
//   insert     they are inserted without a name that somebody else could insert, and taken away by who holds an archive's row.
export const GUARDED_BY = {
  submissions: "operators",
  homes: "operators",
  broadcasts: "operators",
  batches: "operators",
  receipts: "operators",
  earnings: "operators",
  charges: "sessions",
  budgets: "payers",
  turn_holds: "payers",
  failures: "insert",
  archived_names: "archives",
} as const;

export type Lock = (typeof LOCK_ORDER)[number];

// For what is not one operator's alone: whoever writes for an operator waits until it is done.
export async function lockOperators(tx: Tx): Promise<void> {
  if (tx.locks.forUpdate === "") return;
  await tx.all(`SELECT operator FROM operators ORDER BY operator ${tx.locks.forUpdate}`);
}

// Of a call that shares its transaction with others: the last kind of row that must be locked before it runs, by name where
// the call inserts it itself, and the rows that it changes.
export type Touches = {
  lock: Lock;
  name?: string;
  calls?: readonly string[];
  sessions?: readonly string[];
  payers?: readonly Address[];
};

export type Work<T> = ((tx: Tx) => T | Promise<T>) & { touches: Touches };

export function touching<T>(touches: Touches, work: (tx: Tx) => T | Promise<T>): Work<T> {
  return Object.assign(work, { touches });
}

// In which order the calls of a group run. Those that lock the same run as they came.
export function compareTouches(a: Touches, b: Touches): number {
  if (a.lock !== b.lock) return LOCK_ORDER.indexOf(a.lock) - LOCK_ORDER.indexOf(b.lock);
  const [name, other] = [a.name ?? "", b.name ?? ""];
  return name < other ? -1 : name > other ? 1 : 0;
}

// Payers of whom there is a row. None is ever taken away; and if one were, it would be made again.
export type KnownPayers = { has(payer: Address): boolean; add(payer: Address): void; forget(payer: Address): void };

// What of a payer decides about its credit.
export const CREDIT_COLUMNS = "payer, pending + held AS committed, settled, taken_at_block";

const NEW_PAYERS: Insertion = {
  into: "payers",
  columns: { payer: "TEXT" },
  derived: { pending: "0", held: "0", debt: "0", taken_at_block: "0" },
  tail: `ON CONFLICT (payer) DO UPDATE SET pending = payers.pending RETURNING ${CREDIT_COLUMNS}`,
};

const rowsByPayer = (rows: readonly Row[]) => new Map(rows.map((row) => [address(row, "payer"), row]));

// Locks, for all calls of a group, what comes up to `lock` in the order. To be asked before each call.
export function createLocks(tx: Tx, touched: readonly Touches[], known: KnownPayers): (lock: Lock) => Promise<void> {
  // SQLite has one writer.
  if (tx.locks.forUpdate === "") return async () => {};
  const sessions = new Set(touched.flatMap((touches) => touches.sessions ?? []));
  const payers = new Set(touched.flatMap((touches) => touches.payers ?? []));
  const steps: [Lock, () => Promise<void>][] = [
    ["holds", lockHolds],
    ["sessions", lockSessions],
    ["payers", lockPayers],
  ];

  // All in one statement, because only the database knows the order of its texts.
  const lockedIn = (names: Iterable<string>, ask: (list: string) => string) =>
    allOf(tx, askingWithin(tx, "TEXT", [...names], ask));

  async function lockHolds(): Promise<void> {
    const rows = await lockedIn(
      new Set(touched.flatMap((touches) => touches.calls ?? [])),
      (list) => `SELECT session_id FROM holds WHERE call_id ${list} ORDER BY call_id ${tx.locks.forUpdate}`,
    );
    for (const row of rows) sessions.add(text(row, "session_id"));
  }

  async function lockSessions(): Promise<void> {
    const rows = await lockedIn(
      sessions,
      (list) => `SELECT id, payer FROM sessions WHERE id ${list} ORDER BY id ${tx.locks.forUpdate}`,
    );
    for (const row of rows) {
      tx.lockedSessions.add(text(row, "id"));
      payers.add(address(row, "payer"));
    }
  }

  // The last of them, and not waited for: what is asked next is sent behind it and runs once they are locked, so that a group is a trip
  // to the database shorter. Whoever needs the rows waits for them, and so does the end of the transaction.
  async function lockPayers(): Promise<void> {
    const all = [...payers].sort();
    tx.lockedPayers = (all.every((payer) => known.has(payer)) ? lockKnown(all) : makePayers(all)).then(rowsByPayer);
    tx.lockedPayers.catch(() => undefined);
  }

  // Whoever is known is locked where it is: writing its row again, for the sake of the lock, would cost as much as all else that is
  // written of it. Of all or of none, so that they are locked in their order.
  async function lockKnown(all: readonly Address[]): Promise<Row[]> {
    const rows = await lockedIn(
      all,
      (list) => `SELECT ${CREDIT_COLUMNS} FROM payers WHERE payer ${list} ORDER BY payer ${tx.locks.forUpdate}`,
    );
    if (rows.length === all.length) return rows;
    for (const payer of all) known.forget(payer);
    throw new SettlementError("ledger_unavailable", "payers that were there are gone; try again", { retryable: true });
  }

  // A row that is not there yet cannot be locked, so it is made.
  async function makePayers(all: readonly Address[]): Promise<Row[]> {
    const rows = await allOf(tx, insertionsOf(tx, NEW_PAYERS, all));
    for (const payer of all) known.add(payer);
    return rows;
  }

  return async (lock) => {
    while (steps[0] !== undefined && LOCK_ORDER.indexOf(steps[0][0]) <= LOCK_ORDER.indexOf(lock)) {
      const [[, run]] = steps;
      steps.shift();
      await run();
    }
  };
}
