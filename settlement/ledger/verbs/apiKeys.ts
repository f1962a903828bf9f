import type { Address, Hex } from "viem";
import type { ApiKey, NewApiKey } from "../../domain/apiKey.ts";
import { address, count, text } from "../decode.ts";
import type { Callers } from "../ledger.ts";
import type { Reader, Row } from "../sql.ts";
import type { Tx } from "../tx.ts";

export async function createApiKey(
  tx: Tx,
  { id, hash, payer, label }: NewApiKey,
  nowMs: number,
): ReturnType<Callers["createApiKey"]> {
  const [created] = await tx.all(
    `INSERT INTO api_keys (id, hash, payer, label, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5, NULL)
     ON CONFLICT DO NOTHING
     RETURNING *`,
    [id, hash, payer, label, nowMs],
  );
  if (created !== undefined) return { kind: "created", apiKey: apiKeyFrom(created) };
  const known = await findApiKey(tx, id);
  return known !== null && known.payer === payer && known.label === label
    ? { kind: "duplicate", apiKey: known }
    : { kind: "conflict" };
}

// The moment of the first revocation stays.
export async function revokeApiKey(tx: Tx, id: string, nowMs: number): Promise<ApiKey | null> {
  await tx.run("UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL", [id, nowMs]);
  return findApiKey(tx, id);
}

export async function findApiKey(sql: Reader, id: string): Promise<ApiKey | null> {
  const [row] = await sql.all("SELECT * FROM api_keys WHERE id = $1", [id]);
  return row === undefined ? null : apiKeyFrom(row);
}

export async function apiKeyByHash(sql: Reader, hash: Hex): Promise<ApiKey | null> {
  const [row] = await sql.all("SELECT * FROM api_keys WHERE hash = $1", [hash]);
  return row === undefined ? null : apiKeyFrom(row);
}

export async function apiKeys(sql: Reader, payer: Address | null, limit: number, offset: number): Promise<ApiKey[]> {
  const order = "ORDER BY created_at, id LIMIT $1 OFFSET $2";
  const rows =
    payer === null
      ? await sql.all(`SELECT * FROM api_keys ${order}`, [limit, offset])
      : await sql.all(`SELECT * FROM api_keys WHERE payer = $3 ${order}`, [limit, offset, payer]);
  return rows.map(apiKeyFrom);
}

function apiKeyFrom(row: Row): ApiKey {
  return {
    id: text(row, "id"),
    payer: address(row, "payer"),
    label: text(row, "label"),
    createdAtMs: count(row, "created_at"),
    revokedAtMs: row.revoked_at === null ? null : count(row, "revoked_at"),
  };
}
