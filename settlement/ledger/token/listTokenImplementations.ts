import type { Address } from "viem";
import { address, count } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";

export type SeenImplementation = { implementation: Address; seenAtMs: number };

// Newest first.
export function listTokenImplementations() {
  return async (sql: Reader): Promise<SeenImplementation[]> => {
    const rows = await sql.all("SELECT implementation, seen_at FROM token_implementations ORDER BY position DESC");
    return rows.map((row) => ({ implementation: address(row, "implementation"), seenAtMs: count(row, "seen_at") }));
  };
}
