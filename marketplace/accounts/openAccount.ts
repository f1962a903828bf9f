import type { Address } from "viem";
import { count } from "../../settlement/ledger/database/decode.ts";
import type { Sql } from "../../settlement/ledger/database/sql.ts";

// A wallet that signs in for the first time has an account from now on. False if there are as many as may be of those that were never
// charged for anything: accounts cost nothing, and each takes room for its keys, favourites and wallets.
export async function openAccount(sql: Sql, wallet: Address, maxFree: number, nowMs: number): Promise<boolean> {
  const known = await sql.all("SELECT 1 FROM accounts WHERE wallet = $1", [wallet]);
  if (known.length > 0) return true;
  const [row] = await sql.all("SELECT value FROM totals WHERE name = 'free_accounts'");
  if (count(row ?? {}, "value") >= maxFree) return false;
  const opened = await sql.run(
    "INSERT INTO accounts (wallet, favorites_only, created_at) VALUES ($1, 0, $2) ON CONFLICT (wallet) DO NOTHING",
    [wallet, nowMs],
  );
  await addFreeAccounts(sql, opened);
  return true;
}

export async function addFreeAccounts(sql: Sql, more: number): Promise<void> {
  if (more !== 0) await sql.run("UPDATE totals SET value = value + $1 WHERE name = 'free_accounts'", [more]);
}
