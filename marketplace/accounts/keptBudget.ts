import type { Address } from "viem";
import { text } from "../../settlement/ledger/database/decode.ts";
import type { Reader, Sql } from "../../settlement/ledger/database/sql.ts";
import type { SignedBudget } from "../settlement/signedBudget.ts";

// The budget that an account has brought last. It is judged by the daemon whenever it is drawn on; here it is only remembered.

export async function keepSigned(sql: Sql, account: Address, signed: SignedBudget): Promise<void> {
  await sql.run(
    "INSERT INTO kept_budgets (account, signed) VALUES ($1, $2) ON CONFLICT (account) DO UPDATE SET signed = excluded.signed",
    [account, JSON.stringify(signed)],
  );
}

export async function findSigned(sql: Reader, account: Address): Promise<SignedBudget | null> {
  const [row] = await sql.all("SELECT signed FROM kept_budgets WHERE account = $1", [account]);
  return row === undefined ? null : (JSON.parse(text(row, "signed")) as SignedBudget);
}

export async function forgetSigned(sql: Sql, account: Address): Promise<void> {
  await sql.run("DELETE FROM kept_budgets WHERE account = $1", [account]);
}
