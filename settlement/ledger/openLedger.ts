import { randomInt } from "node:crypto";
import { isPostgres } from "../domain/text/isPostgres.ts";
import { openArchiveFolder } from "./archive/folder.ts";
import { createLedger, type LedgerOptions } from "./createLedger.ts";
import { openPostgres } from "./database/postgres/openPostgres.ts";
import { openSqlite } from "./database/sqlite/openSqlite.ts";
import type { Ledger } from "./ledger.ts";

const SHARDS = 16;

export type OpenOptions = Omit<LedgerOptions, "archive"> & {
  // The folder of its archive, if it has one.
  archive?: string | null;
};

// Opens the ledger at a postgres:// address, or in a file.
export async function openLedger(location: string, { archive, ...options }: OpenOptions = {}): Promise<Ledger> {
  const shared = isPostgres(location);
  const database = shared ? openPostgres({ url: location }) : openSqlite({ path: location });
  try {
    // Chosen at random: processes that meet in one shard only wait for each other now and then.
    const folder = typeof archive === "string" ? openArchiveFolder(archive) : null;
    return await createLedger(database, { shard: shared ? randomInt(SHARDS) : 0, archive: folder, ...options });
  } catch (error) {
    await database.close();
    throw error;
  }
}
