import type { Hex } from "viem";
import { hex, integer } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validHash } from "../validate.ts";
import { halt } from "./halt.ts";
import { requireHome } from "./home.ts";

export type FinalizedBlock = { number: bigint; hash: Hex };

// The newest block that the chain has called final, and up to which every batch of our keys is known; null before the first.
export function readFinalized() {
  return async (sql: Reader): Promise<FinalizedBlock | null> => {
    const [row] = await sql.all("SELECT number, hash FROM finalized_blocks");
    return row === undefined ? null : { number: integer(row, "number"), hash: hex(row, "hash") };
  };
}

// Never back to an older block: several daemons look at the chain through endpoints of their own. And only where whoever has looked
// began to: a standby that took over meanwhile may not know what was known then, and nobody would look at it again.
export function noteFinalized({ number, hash }: FinalizedBlock, home: string | null = null) {
  validHash("the block's hash", hash);
  return async (tx: Tx): Promise<void> => {
    if (home !== null) await requireHome(tx, home);
    await tx.run(
      `INSERT INTO finalized_blocks (id, number, hash) VALUES (1, $1, $2)
       ON CONFLICT (id) DO UPDATE SET number = excluded.number, hash = excluded.hash
       WHERE finalized_blocks.number < excluded.number`,
      [number, hash],
    );
  };
}

// A block that was final is another one now. The same finding halts once: the watch goes on from an earlier block, that
// person and engine can agree on, when somebody has looked and lifts the halt.
export function haltForUndoneBlock(reason: string, goOnFrom: FinalizedBlock, nowMs: number, lifted: number) {
  validHash("the block's hash", goOnFrom.hash);
  const halted = halt(reason, nowMs, lifted);
  return async (tx: Tx): Promise<void> => {
    await tx.run("UPDATE finalized_blocks SET number = $1, hash = $2", [goOnFrom.number, goOnFrom.hash]);
    await halted(tx);
  };
}
