import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { Database, Param, Reader } from "../sql.ts";
import { isStorable } from "../storable.ts";
import { type BulkVerb, createGroupCommit } from "./groupCommit.ts";
import { createLocks, type Touches, type Work } from "./lockOrder.ts";
import { inTransaction, type Tx } from "./tx.ts";

// A verb takes what its caller gives, checks it, and returns the work that is left to do in a transaction. The two are apart
// because calls share transactions: what is wrong with one of them is found before it joins the others.
export type Verb<Args extends unknown[], On, T> = (...args: Args) => (on: On) => T | Promise<T>;

// The same verb as the ledger offers it: from the arguments straight to what is on disk.
export type Run<Args extends unknown[], T> = (...args: Args) => Promise<T>;

type Kind<T> = T extends { kind: infer K } ? K : never;

// The ways in which a verb can be run. A subject's factory chooses one for each of its verbs.
export type Runner = {
  // Shares a commit with the calls that arrive at the same time. A commit whose outcome nobody knows is done again, so doing
  // it twice must be doing it once. `done` is what the verb says when it has changed something, and `again` what it says when
  // that was done before: a call that finds its own first try done is answered as the first time.
  shared<Args extends unknown[], T>(verb: (...args: Args) => Work<T>, done?: Kind<T>, again?: Kind<T>): Run<Args, T>;
  // The same for a verb whose calls share their statements as well. `check` makes the item of one call.
  sharedInBulk<Args extends unknown[], Item, T>(
    check: (...args: Args) => Item,
    verb: BulkVerb<Tx, Item, T>,
    done: Kind<T extends readonly (infer One)[] ? One : T>,
    touches: (item: Item) => Touches,
    // Of how many things the call is.
    sizeOf?: (item: Item) => number,
  ): Run<Args, T>;
  // Has a transaction of its own. Never done again behind the caller's back.
  alone<Args extends unknown[], T>(verb: Verb<Args, Tx, T>): Run<Args, T>;
  // Sees what was committed and holds nobody up.
  read<Args extends unknown[], T>(verb: Verb<Args, Reader, T>): Run<Args, T>;
  // Several reads of one moment.
  snapshot<Args extends unknown[], T>(verb: Verb<Args, Reader, T>): Run<Args, T>;
};

// What most verbs say when they find their work done before.
const DUPLICATE = "duplicate";

// Of whoever was quiet for longest it is asked again whether there is a row.
const MAX_KNOWN_PAYERS = 100_000;

export type RunnerOptions = {
  maxGroup: number;
  maxQueue: number;
  shard: number;
};

export function createRunner(
  database: Database,
  { maxGroup, maxQueue, shard }: RunnerOptions,
): Runner & { drained(): Promise<void> } {
  // Groups that are on their way at the same time do not wait for each other's sums.
  const shardOf = (lane: number) => shard * database.writers + lane;
  // Without room for all of them from the start, which would take as long as opening the ledger.
  const payers = new LRUCache<Address, true>({ maxSize: MAX_KNOWN_PAYERS, sizeCalculation: () => 1 });
  const knownPayers = {
    has: (payer: Address) => payers.get(payer) === true,
    add: (payer: Address) => void payers.set(payer, true),
    forget: (payer: Address) => void payers.delete(payer),
  };
  const group = createGroupCommit<Tx>({
    transaction: (work, lane) => inTransaction(database, work, { repeatable: true, shard: shardOf(lane) }),
    lanes: database.writers,
    locks: (tx, touched) => createLocks(tx, touched, knownPayers),
    maxGroup,
    maxQueue,
  });
  const reader = onlyStorable(database.read);
  return {
    shared:
      (verb, done, again) =>
      async (...args) => {
        const work = verb(...args);
        return group.submit(work, { done, again: again ?? DUPLICATE, touches: work.touches });
      },
    sharedInBulk:
      (check, verb, done, touches, sizeOf = () => 1) =>
      async (...args) => {
        const item = check(...args);
        return group.submitTo(verb, item, { done, again: DUPLICATE, touches: touches(item), size: sizeOf(item) });
      },
    alone:
      (verb) =>
      async (...args) => {
        const work = verb(...args);
        return inTransaction(database, async (tx) => work(tx), { repeatable: false, shard: shardOf(0) });
      },
    read:
      (verb) =>
      async (...args) =>
        verb(...args)(reader),
    snapshot:
      (verb) =>
      async (...args) => {
        const work = verb(...args);
        return database.snapshot(async (sql) => work(onlyStorable(sql)));
      },
    drained: group.drained,
  };
}

// What no row can hold, no row is found by. The databases would each say something else: one that there is no such row,
// the other that the question cannot be asked.
function onlyStorable(reader: Reader): Reader {
  return {
    takesArrays: reader.takesArrays,
    all: (text, params = []) => (params.every(canBeFound) ? reader.all(text, params) : []),
  };
}

function canBeFound(param: Param): boolean {
  if (typeof param === "object" && param !== null) return param.items.every(canBeFound);
  return typeof param !== "string" || isStorable(param);
}
