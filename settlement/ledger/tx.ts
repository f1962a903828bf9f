import type { Address } from "viem";
import { createTally, type Tally } from "./figures.ts";
import {
  type Attempt,
  type Database,
  evenChunksOf,
  type Param,
  type Sql,
  type TransactionOptions,
  tuples,
} from "./sql.ts";

type Counters = { pending: bigint; held: bigint; debt: bigint };

// A transaction as the verbs see it.
export type Tx = Sql & {
  // Changes what is known of a payer. Changes are gathered and written before the commit: once per payer however many
  // calls share the transaction, and in the order of addresses, so that two writers never wait for each other in a circle.
  change(payer: Address, by: Partial<Counters>): void;
  // Adds to what happened at a time. Gathered and written likewise, after the payers.
  count: Tally["add"];
};

export function inTransaction<T>(
  database: Database,
  work: (tx: Tx, attempt: Attempt) => Promise<T>,
  { shard, ...options }: TransactionOptions & { shard: number },
): Promise<T> {
  return database.transaction(async (sql, attempt) => {
    const changes = new Map<Address, Counters>();
    const tally = createTally();
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
      count: tally.add,
    };
    const result = await work(tx, attempt);
    await writeChanges(sql, changes);
    await tally.write(sql, shard);
    return result;
  }, options);
}

async function writeChanges(sql: Sql, changes: ReadonlyMap<Address, Counters>): Promise<void> {
  const rows = [...changes]
    .filter(([, { pending, held, debt }]) => pending !== 0n || held !== 0n || debt !== 0n)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const chunk of evenChunksOf(rows)) {
    const params: Param[] = [];
    for (const [payer, { pending, held, debt }] of chunk) params.push(payer, pending, held, debt);
    await sql.run(
      `INSERT INTO payers (payer, pending, held, debt) VALUES ${tuples(chunk.length, 4)}
       ON CONFLICT (payer) DO UPDATE SET
         pending = payers.pending + excluded.pending,
         held = payers.held + excluded.held,
         debt = payers.debt + excluded.debt`,
      params,
    );
  }
}
