import type { Hex } from "viem";
import type { Batch } from "../../domain/batch/batch.ts";
import { text } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";

const DIGITS = 64;

export type StoredReceipt = { chargeId: Hex; leaf: Hex };

// A batch keeps its receipts as one text: they are written and read together, and a row for each would cost more than all
// else that is stored of it.
export function packReceipts(receipts: Batch["receipts"]): string {
  return receipts.map(({ chargeId, leaf }) => chargeId.slice(2) + leaf.slice(2)).join("");
}

export function unpackReceipts(packed: string): StoredReceipt[] {
  return Array.from({ length: packed.length / (2 * DIGITS) }, (_, position) => {
    const [id, leaf, end] = [0, 1, 2].map((part) => (2 * position + part) * DIGITS);
    return { chargeId: `0x${packed.slice(id, leaf)}`, leaf: `0x${packed.slice(leaf, end)}` };
  });
}

// Those of a batch that is here. What the archive has, and a batch that was taken in from the chain, has none.
export async function readReceipts(sql: Reader, batchId: Hex): Promise<StoredReceipt[]> {
  const [row] = await sql.all("SELECT receipts FROM receipts WHERE batch_id = $1", [batchId]);
  return row === undefined ? [] : unpackReceipts(text(row, "receipts"));
}
