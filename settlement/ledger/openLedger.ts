import { createLedger, type LedgerOptions } from "./createLedger.ts";
import type { Ledger } from "./ledger.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";

const POSTGRES_PATTERN = /^postgres(ql)?:\/\//;

export const isPostgres = (location: string) => POSTGRES_PATTERN.test(location);

// Opens the ledger at a postgres:// address, or in a file.
export async function openLedger(location: string, options: LedgerOptions = {}): Promise<Ledger> {
  const database = isPostgres(location) ? openPostgres({ url: location }) : openSqlite({ path: location });
  try {
    return await createLedger(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}
