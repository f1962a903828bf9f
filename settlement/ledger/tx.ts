import type { Address } from "viem";
import { type Attempt, chunksOf, type Database, type Param, type Sql, type TransactionOptions, tuples } from "./sql.ts";

type Counters = { pending: bigint; held: bigint; debt: bigint };

// A transaction as the verbs see it.
export type Tx = Sql & {
  // Changes what is known of a payer. Changes are gathered and written before the commit: once per payer however many
  // calls share the transaction, and in the order of addresses, so that two writers never wait for each other in a circle.
  change(payer: Address, by: Partial<Counters>): void;
};

// Rows per statement, largest first: few texts to prepare, and few round trips.
const ROWS_PER_STATEMENT = [32, 8, 1];

export function inTransaction<T>(
  database: Database,
  work: (tx: Tx, attempt: Attempt) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  return database.transaction(async (sql, attempt) => {
    const changes = new Map<Address, Counters>();
    const tx: Tx = {
      ...sql,
      change(payer, { pending = 0n, held = 0n, debt = 0n }) {
        const change = changes.get(payer);
        if (change === undefined) {
          changes.set(payer, { pending, held, debt });
          return;
        }
        change.pending += pending;
        change.held += held;
        change.debt += debt;
      },
    };
    const result = await work(tx, attempt);
    await writeChanges(sql, changes);
    return result;
  }, options);
}

async function writeChanges(sql: Sql, changes: ReadonlyMap<Address, Counters>): Promise<void> {
  let rows = [...changes]
    .filter(([, { pending, held, debt }]) => pending !== 0n || held !== 0n || debt !== 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const size of ROWS_PER_STATEMENT) {
    const whole = rows.length - (rows.length % size);
    for (const chunk of chunksOf(rows.slice(0, whole), size)) await writeChunk(sql, chunk);
    rows = rows.slice(whole);
  }
}

async function writeChunk(sql: Sql, rows: readonly (readonly [Address, Counters])[]): Promise<void> {
  const params: Param[] = [];
  for (const [payer, { pending, held, debt }] of rows) params.push(payer, pending, held, debt);
  await sql.run(
    `INSERT INTO payers (payer, pending, held, debt) VALUES ${tuples(rows.length, 4)}
     ON CONFLICT (payer) DO UPDATE SET
       pending = payers.pending + excluded.pending,
       held = payers.held + excluded.held,
       debt = payers.debt + excluded.debt`,
    params,
  );
}
