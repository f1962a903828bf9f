import { randomInt } from "node:crypto";
import { createLedger, type LedgerOptions } from "./createLedger.ts";
import type { Ledger } from "./ledger.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

const SHARDS = 16;
const POSTGRES_PATTERN = /^postgres(ql)?:\/\//;

export const isPostgres = (location: string) => POSTGRES_PATTERN.test(location);

// Opens the ledger at a postgres:// address, or in a file.
export async function openLedger(location: string, options: LedgerOptions = {}): Promise<Ledger> {
  const shared = isPostgres(location);
  const database = shared ? openPostgres({ url: location }) : openSqlite({ path: location });
  try {
    // Chosen by chance: processes that meet in one shard only wait for each other now and then.
    return await createLedger(database, { shard: shared ? randomInt(SHARDS) : 0, ...options });
  } catch (error) {
    await database.close();
    throw error;
  }
}
