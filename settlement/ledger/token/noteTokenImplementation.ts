import type { Address } from "viem";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validTime } from "../validate.ts";
import { listTokenImplementations } from "./listTokenImplementations.ts";

// Remembers it, and says what came before if it is another than the last time. Of two processes that see the same change, one
// gets its predecessor: the one that wrote it down.
export function noteTokenImplementation(implementation: Address, nowMs: number) {
  const code = validAddress("the implementation", implementation);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<{ previous: Address } | null> => {
    const seen = await listTokenImplementations()(tx);
    const [last] = seen;
    if (last?.implementation === code) return null;
    const written = await tx.run(
      `INSERT INTO token_implementations (position, implementation, seen_at) VALUES ($1, $2, $3)
       ON CONFLICT (position) DO NOTHING`,
      [seen.length, code, nowMs],
    );
    return last === undefined || written === 0 ? null : { previous: last.implementation };
  };
}
