import type { Address, Hex } from "viem";
import { address, count, text } from "../../settlement/ledger/database/decode.ts";
import type { Reader, Row, Sql } from "../../settlement/ledger/database/sql.ts";

// The key itself is shown once, when it is made; what is kept is its hash.
export type ApiKey = {
  id: string;
  account: Address;
  name: string;
  createdAtMs: number;
  revokedAtMs: number | null;
};

// More than anybody needs, and a bound on what one wallet can make this side keep.
export const MAX_KEYS = 20;
// Of those that were revoked the newest are shown.
const MAX_REVOKED = 100;

export async function insertApiKey(
  sql: Sql,
  key: Pick<ApiKey, "id" | "account" | "name"> & { hash: Hex },
  nowMs: number,
): Promise<ApiKey | "too_many"> {
  // The account's row is locked, so that two requests do not both make the last one.
  await sql.run("UPDATE accounts SET favorites_only = favorites_only WHERE wallet = $1", [key.account]);
  await sql.run(
    `DELETE FROM api_keys WHERE id IN
       (SELECT id FROM api_keys WHERE account = $1 AND revoked_at IS NOT NULL
        ORDER BY revoked_at DESC, id LIMIT 1000 OFFSET ${MAX_REVOKED})`,
    [key.account],
  );
  const [row] = await sql.all(
    `INSERT INTO api_keys (id, hash, account, name, created_at, revoked_at)
     SELECT $1, $2, $3, $4, CAST($5 AS BIGINT), NULL
     WHERE (SELECT COUNT(*) FROM api_keys WHERE account = $3 AND revoked_at IS NULL) < ${MAX_KEYS}
     RETURNING *`,
    [key.id, key.hash, key.account, key.name, nowMs],
  );
  return row === undefined ? "too_many" : apiKeyFrom(row);
}

// The key whose text has this hash, revoked or not.
export async function findApiKeyByHash(sql: Reader, hash: Hex): Promise<ApiKey | null> {
  const [row] = await sql.all("SELECT * FROM api_keys WHERE hash = $1", [hash]);
  return row === undefined ? null : apiKeyFrom(row);
}

// Oldest first, those that were revoked included.
export async function listApiKeys(sql: Reader, account: Address): Promise<ApiKey[]> {
  const rows = await sql.all("SELECT * FROM api_keys WHERE account = $1 ORDER BY created_at, id", [account]);
  return rows.map(apiKeyFrom);
}

// Null if the account has no such key. The moment of the first revocation stays.
export async function revokeApiKey(sql: Sql, account: Address, id: string, nowMs: number): Promise<ApiKey | null> {
  const [row] = await sql.all(
    "UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $3) WHERE id = $1 AND account = $2 RETURNING *",
    [id, account, nowMs],
  );
  return row === undefined ? null : apiKeyFrom(row);
}

function apiKeyFrom(row: Row): ApiKey {
  return {
    id: text(row, "id"),
    account: address(row, "account"),
    name: text(row, "name"),
    createdAtMs: count(row, "created_at"),
    revokedAtMs: row.revoked_at === null ? null : count(row, "revoked_at"),
  };
}
