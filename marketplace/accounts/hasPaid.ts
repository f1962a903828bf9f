import type { Address } from "viem";
import type { Reader, Sql } from "../../settlement/ledger/database/sql.ts";
import { addFreeAccounts } from "./openAccount.ts";

// Whether an account was ever charged for anything. Accounts are free, so whoever was not has less room here.
export async function hasPaid(sql: Reader, account: string): Promise<boolean> {
  const rows = await sql.all("SELECT 1 FROM accounts WHERE wallet = $1 AND has_paid = 1", [account]);
  return rows.length > 0;
}

export async function notePaid(sql: Sql, accounts: Iterable<Address>): Promise<void> {
  // In one order, so that two processes that write the same do not wait for each other.
  let first = 0;
  for (const account of [...accounts].sort()) {
    first += await sql.run("UPDATE accounts SET has_paid = 1 WHERE wallet = $1 AND has_paid = 0", [account]);
  }
  await addFreeAccounts(sql, -first);
}
