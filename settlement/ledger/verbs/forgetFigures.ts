import { count } from "../decode.ts";
import type { Tx } from "../tx.ts";

// The sums in `totals` stay: only the time line gets shorter.
export async function forgetFigures(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const [last] = await tx.all(
    "SELECT MAX(at) AS at FROM (SELECT at FROM figures WHERE at < $1 ORDER BY at LIMIT $2) AS oldest",
    [beforeMs, limit],
  );
  if (last === undefined || last.at === null) return 0;
  return tx.run("DELETE FROM figures WHERE at <= $1", [count(last, "at")]);
}
