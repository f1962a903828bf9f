import { count } from "../../database/decode.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";

// Some hundred pages of the index of ids. A batch writes those of one segment, and whoever looks for an id reads one of each.
export const SEGMENT_CHARGES = 100_000;

// The segment of the index of ids that so many more charges of this operator go into. A segment that is full is followed by a new one;
// the row of the operator is locked, so that nobody waits for anybody else's.
export async function fillSegment(tx: Tx, { operator }: Lease, charges: number): Promise<number> {
  const [row = {}] = await tx.all(
    `UPDATE operators SET
       segment = segment + CASE WHEN segment_charges >= $3 THEN 1 ELSE 0 END,
       segment_charges = CASE WHEN segment_charges >= $3 THEN 0 ELSE segment_charges END + $2
     WHERE operator = $1 RETURNING segment`,
    [operator, charges, SEGMENT_CHARGES],
  );
  return count(row, "segment");
}
