import { randomInt } from "node:crypto";
import { isPostgres } from "../domain/isPostgres.ts";
import { createLedger, type LedgerOptions } from "./createLedger.ts";
import { openPostgres } from "./database/postgres/openPostgres.ts";
import { openSqlite } from "./database/sqlite.ts";
import type { Ledger } from "./ledger.ts";

const SHARDS = 16;

// Opens the ledger at a postgres:// address, or in a file.
export async function openLedger(location: string, options: LedgerOptions = {}): Promise<Ledger> {
  const shared = isPostgres(location);
  const database = shared ? openPostgres({ url: location }) : openSqlite({ path: location });
  try {
    // Chosen at random: processes that meet in one shard only wait for each other now and then.
    return await createLedger(database, { shard: shared ? randomInt(SHARDS) : 0, ...options });
  } catch (error) {
    await database.close();
    throw error;
  }
}
