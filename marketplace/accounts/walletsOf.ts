import type { Address } from "viem";
import type { Reader } from "../../settlement/ledger/database/sql.ts";
import { readPreferences } from "./preferences.ts";

// The wallets that an account stands for, the one that it means first: whoever links a wallet wants tools to look at that one, the
// last above all, and not at the wallet that pays.
export async function walletsOf(sql: Reader, account: Address): Promise<readonly Address[]> {
  const { linkedWallets } = await readPreferences(sql, account);
  return [...linkedWallets.map(({ wallet }) => wallet).reverse(), account];
}
