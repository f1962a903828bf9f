import type { Address } from "viem";
import type { MicroUsdc } from "../../settlement/domain/money.ts";
import { address, amount, count, text } from "../../settlement/ledger/database/decode.ts";
import type { Reader, Sql } from "../../settlement/ledger/database/sql.ts";

export type Preferences = {
  // Whether searches without a word on it look among favourites alone.
  favoritesOnly: boolean;
  favorites: readonly string[];
  // The most that one answer to a question may cost. Null: as everybody's.
  maxQueryCost: MicroUsdc | null;
  linkedWallets: readonly { wallet: Address; linkedAtMs: number }[];
};

export const MAX_FAVORITES = 500;
export const MAX_LINKED_WALLETS = 20;

export async function readPreferences(sql: Reader, account: Address): Promise<Preferences> {
  const [own, favorites, wallets] = await Promise.all([
    sql.all("SELECT favorites_only, max_query_cost FROM accounts WHERE wallet = $1", [account]),
    sql.all("SELECT tool_id FROM favorites WHERE account = $1 ORDER BY tool_id", [account]),
    sql.all("SELECT wallet, linked_at FROM linked_wallets WHERE account = $1 ORDER BY linked_at, wallet", [account]),
  ]);
  return {
    favoritesOnly: own[0] !== undefined && count(own[0], "favorites_only") === 1,
    maxQueryCost: own[0] === undefined || own[0].max_query_cost === null ? null : amount(own[0], "max_query_cost"),
    favorites: favorites.map((row) => text(row, "tool_id")),
    linkedWallets: wallets.map((row) => ({ wallet: address(row, "wallet"), linkedAtMs: count(row, "linked_at") })),
  };
}

export async function setFavoritesOnly(sql: Sql, account: Address, favoritesOnly: boolean): Promise<void> {
  await sql.run("UPDATE accounts SET favorites_only = $2 WHERE wallet = $1", [account, favoritesOnly ? 1 : 0]);
}

export async function setMaxQueryCost(sql: Sql, account: Address, maxQueryCost: MicroUsdc | null): Promise<void> {
  await sql.run("UPDATE accounts SET max_query_cost = $2 WHERE wallet = $1", [account, maxQueryCost]);
}

// False if the account has too many.
export async function addFavorite(sql: Sql, account: Address, toolId: string): Promise<boolean> {
  await sql.run(
    `INSERT INTO favorites (account, tool_id) SELECT $1, $2
     WHERE (SELECT COUNT(*) FROM favorites WHERE account = $1) < ${MAX_FAVORITES}
     ON CONFLICT (account, tool_id) DO NOTHING`,
    [account, toolId],
  );
  const rows = await sql.all("SELECT 1 FROM favorites WHERE account = $1 AND tool_id = $2", [account, toolId]);
  return rows.length > 0;
}

export async function removeFavorite(sql: Sql, account: Address, toolId: string): Promise<void> {
  await sql.run("DELETE FROM favorites WHERE account = $1 AND tool_id = $2", [account, toolId]);
}

export async function linkWallet(sql: Sql, account: Address, wallet: Address, nowMs: number): Promise<boolean> {
  await sql.run(
    `INSERT INTO linked_wallets (account, wallet, linked_at) SELECT $1, $2, CAST($3 AS BIGINT)
     WHERE (SELECT COUNT(*) FROM linked_wallets WHERE account = $1) < ${MAX_LINKED_WALLETS}
     ON CONFLICT (account, wallet) DO NOTHING`,
    [account, wallet, nowMs],
  );
  const rows = await sql.all("SELECT 1 FROM linked_wallets WHERE account = $1 AND wallet = $2", [account, wallet]);
  return rows.length > 0;
}

export async function unlinkWallet(sql: Sql, account: Address, wallet: Address): Promise<void> {
  await sql.run("DELETE FROM linked_wallets WHERE account = $1 AND wallet = $2", [account, wallet]);
}
