import type { Address } from "viem";
import { address, count } from "../decode.ts";
import type { Reader } from "../sql.ts";
import type { Tx } from "../tx.ts";

export type SeenImplementation = { implementation: Address; seenAtMs: number };

export async function tokenImplementations(sql: Reader): Promise<SeenImplementation[]> {
  const rows = await sql.all("SELECT implementation, seen_at FROM token_implementations ORDER BY position DESC");
  return rows.map((row) => ({ implementation: address(row, "implementation"), seenAtMs: count(row, "seen_at") }));
}

// Of two processes that see the same change, one gets its predecessor: the one that wrote it down.
export async function noteTokenImplementation(
  tx: Tx,
  implementation: Address,
  nowMs: number,
): Promise<{ previous: Address } | null> {
  const seen = await tokenImplementations(tx);
  const [last] = seen;
  if (last?.implementation === implementation) return null;
  const written = await tx.run(
    `INSERT INTO token_implementations (position, implementation, seen_at) VALUES ($1, $2, $3)
     ON CONFLICT (position) DO NOTHING`,
    [seen.length, implementation, nowMs],
  );
  return last === undefined || written === 0 ? null : { previous: last.implementation };
}
