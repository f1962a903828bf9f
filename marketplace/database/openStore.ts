import { isPostgres } from "../../settlement/domain/text/isPostgres.ts";
import { migrate, migrationsOf } from "../../settlement/ledger/database/migrate.ts";
import { openPostgres } from "../../settlement/ledger/database/postgres/openPostgres.ts";
import type { Database, Reader, Sql } from "../../settlement/ledger/database/sql.ts";
import { openSqlite } from "../../settlement/ledger/database/sqlite/openSqlite.ts";
import { isStorable } from "../../settlement/ledger/database/storable.ts";
import { createGroupCommit } from "../../settlement/ledger/database/transactions/groupCommit.ts";

// The marketplace's memory: the same two databases as the ledger's, with tables of its own. Verbs are functions of a
// transaction or of a reader, and whoever calls them chooses how they are run.
export type Store = {
  // Shares a commit with what is written at the same time. A commit whose outcome nobody knows is done again, so doing the
  // work twice must be doing it once.
  shared<T>(work: (sql: Sql) => T | Promise<T>): Promise<T>;
  // Has a transaction of its own, which is never done again behind the caller's back.
  alone<T>(work: (sql: Sql) => T | Promise<T>): Promise<T>;
  // Sees what was committed and holds nobody up.
  read: Reader;
  close(): Promise<void>;
};

const MIGRATIONS = new URL("./migrations/", import.meta.url);
const MAX_GROUP = 256;
const MAX_QUEUE = 10_000;

// Opens the store at a postgres:// address, or in a file.
export async function openStore(location: string): Promise<Store> {
  const database = isPostgres(location)
    ? openPostgres({ url: location })
    : openSqlite({ path: location, setting: "MARKETPLACE_DATABASE" });
  try {
    return await createStore(database);
  } catch (error) {
    await database.close();
    throw error;
  }
}

export async function createStore(database: Database): Promise<Store> {
  await migrate(database, migrationsOf(MIGRATIONS));
  const group = createGroupCommit<Sql>({
    transaction: (work) => database.transaction(work, { repeatable: true }),
    // Every verb that is shared changes one row, by its key, and perhaps removes what is too old for anybody.
    locks: () => async () => undefined,
    maxGroup: MAX_GROUP,
    maxQueue: MAX_QUEUE,
  });
  return {
    shared: (work) => group.submit(work),
    alone: (work) => database.transaction(async (sql) => work(sql), { repeatable: false }),
    // What no row can hold, no row is found by, on either database.
    read: {
      takesArrays: database.read.takesArrays,
      all: (text, params = []) =>
        params.every((param) => typeof param !== "string" || isStorable(param)) ? database.read.all(text, params) : [],
    },
    async close() {
      await group.drained();
      await database.close();
    },
  };
}
