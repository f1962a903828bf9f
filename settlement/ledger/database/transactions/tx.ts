import type { Address } from "viem";
import type { BudgetKey } from "../../../domain/payer/budget.ts";
import { type Insertion, insertionsOf, sendAll } from "../lists.ts";
import type { Attempt, Database, Param, Row, Sql, TransactionOptions } from "../sql.ts";
import { createDrawn, type Drawn } from "../sums/drawn.ts";
import { createDueAccounts, type DueAccounts } from "../sums/dueAccounts.ts";
import { createTally, type Tally } from "../sums/stats.ts";

// `takenAtBlock` is the newest block in which something of the payer's was taken; what is added up are the others.
type Counters = {
  pending: bigint;
  held: bigint;
  owed: bigint;
  debt: bigint;
  settled: bigint;
  archived: bigint;
  takenAtBlock: bigint;
};

// A transaction as the verbs see it.
export type Tx = Sql & {
  // Changes what is known of a payer. Changes are gathered and written before the commit: once per payer however many
  // calls share the transaction, and in the order of addresses, so that two writers never wait for each other in a circle.
  // What draws on a budget of the payer's changes what is known of that budget as well; `taken` is for the budget alone.
  change(payer: Address, by: Partial<Counters & Pick<Drawn, "taken">>, budgetId?: bigint | null): void;
  // What was gathered for a payer so far, and is in no row yet.
  changeOf(payer: Address): Readonly<Counters>;
  // The same for a budget.
  drawnOf(budget: BudgetKey): Readonly<Drawn>;
  // Which accounts have charges that wait for a batch. Gathered and written likewise, after the payers.
  due: Omit<DueAccounts, "write">;
  // Sessions that calls of a group have locked, and their payers with them, where there are several writers. One that somebody else
  // opened since is seen and not locked.
  lockedSessions: Set<string>;
  // Payers that they have locked, as they are: nobody else changes them, and what this transaction does is written at its end. Here as
  // soon as they are locked.
  lockedPayers: Promise<ReadonlyMap<Address, Row>>;
  // Adds to what happened at a time. Gathered and written likewise, at the end.
  count: Tally["add"];
  fail: Tally["fail"];
};

const SUMS = ["pending", "held", "owed", "debt", "settled", "archived"] as const;
type Counter = keyof Counters;
const COUNTERS = [...SUMS, "takenAtBlock"] as const satisfies readonly Counter[];
// Those that a new row must name.
const REQUIRED = ["pending", "held", "debt", "takenAtBlock"] as const satisfies readonly Counter[];
const addition = (sum: (typeof SUMS)[number]) => `${sum} = payers.${sum} + excluded.${sum}`;
const COLUMNS: Readonly<Record<Counter, string>> = {
  pending: "pending",
  held: "held",
  owed: "owed",
  debt: "debt",
  settled: "settled",
  archived: "archived",
  takenAtBlock: "taken_at_block",
};
const ADDITIONS: Readonly<Record<Counter, string>> = {
  pending: addition("pending"),
  held: addition("held"),
  owed: addition("owed"),
  debt: addition("debt"),
  settled: addition("settled"),
  archived: addition("archived"),
  takenAtBlock: `taken_at_block = CASE WHEN payers.taken_at_block < excluded.taken_at_block
    THEN excluded.taken_at_block ELSE payers.taken_at_block END`,
};
const NO_CHANGE: Counters = { pending: 0n, held: 0n, owed: 0n, debt: 0n, settled: 0n, archived: 0n, takenAtBlock: 0n };

const NOBODY: Promise<ReadonlyMap<Address, Row>> = Promise.resolve(new Map());

export function inTransaction<T>(
  database: Database,
  work: (tx: Tx, attempt: Attempt) => Promise<T>,
  { shard, ...options }: TransactionOptions & { shard: number },
): Promise<T> {
  return database.transaction(async (sql, attempt) => {
    const changes = new Map<Address, Counters>();
    const drawn = createDrawn();
    const due = createDueAccounts();
    const tally = createTally();
    const tx: Tx = {
      ...sql,
      change(payer, by, budgetId = null) {
        const { held = 0n, pending = 0n, taken = 0n, archived = 0n } = by;
        if (budgetId !== null) drawn.add({ payer, id: budgetId }, { held, pending, taken, archived });
        const change = changes.get(payer) ?? { ...NO_CHANGE };
        changes.set(payer, change);
        for (const sum of SUMS) {
          const value = by[sum];
          if (value !== undefined) change[sum] += value;
        }
        if ((by.takenAtBlock ?? 0n) > change.takenAtBlock) change.takenAtBlock = by.takenAtBlock ?? 0n;
      },
      changeOf: (payer) => changes.get(payer) ?? NO_CHANGE,
      drawnOf: drawn.of,
      due,
      lockedSessions: new Set(),
      lockedPayers: NOBODY,
      count: tally.add,
      fail: tally.fail,
    };
    const result = await work(tx, attempt);
    await tx.lockedPayers;
    writeChanges(sql, changes);
    drawn.write(sql);
    due.write(sql);
    tally.write(sql, shard);
    return result;
  }, options);
}

// Only what has changed: of a turn that is what is pending, and of a call what is held.
function writeChanges(sql: Sql, changes: ReadonlyMap<Address, Counters>): void {
  const rows = [...changes]
    .filter(([, change]) => COUNTERS.some((counter) => change[counter] !== 0n))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const changed = COUNTERS.filter((counter) => rows.some(([, change]) => change[counter] !== 0n));
  const params: Param[] = [];
  for (const [payer, change] of rows) {
    params.push(payer);
    for (const counter of changed) params.push(change[counter]);
  }
  if (params.length > 0) sendAll(sql, insertionsOf(sql, changesOf(changed), params));
}

// Remembered: there are few, and each is asked for again and again.
function changesOf(changed: readonly Counter[]): Insertion {
  const name = changed.join();
  const known = insertions.get(name);
  if (known !== undefined) return known;
  const insertion: Insertion = {
    into: "payers",
    columns: { payer: "TEXT", ...Object.fromEntries(changed.map((counter) => [COLUMNS[counter], "BIGINT"] as const)) },
    derived: Object.fromEntries(
      REQUIRED.filter((counter) => !changed.includes(counter)).map((counter) => [COLUMNS[counter], "0"]),
    ),
    tail: `ON CONFLICT (payer) DO UPDATE SET ${changed.map((counter) => ADDITIONS[counter]).join(", ")}`,
  };
  insertions.set(name, insertion);
  return insertion;
}

const insertions = new Map<string, Insertion>();
