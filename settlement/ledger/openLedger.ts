import { createLedger, type LedgerOptions } from "./createLedger.ts";
import type { Ledger } from "./ledger.ts";
import { openSqlite } from "./sqlite.ts";

// Opens the ledger at a postgres:// address, or in a file.
export async function openLedger(location: string, options: LedgerOptions = {}): Promise<Ledger> {
  const database = openSqlite({ path: location });
  try {
    return await createLedger(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}
