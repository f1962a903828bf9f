import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import type { Tx } from "../database/transactions/tx.ts";
import type { ArchiveFolder } from "./folder.ts";
import { type Block, encodeBlock, encodeFile } from "./format.ts";

export type WrittenArchive = {
  file: string;
  checksum: string;
  bytes: number;
  blocks: number;
  fromMs: number | null;
  toMs: number | null;
};

// Writes a file of what may leave. Nothing has left yet, and nothing knows of the file: if this is as far as it gets, the next
// one to try writes the same file, or another one beside it.
export async function writeArchive(selected: readonly Block[], folder: ArchiveFolder): Promise<WrittenArchive | null> {
  if (selected.length === 0) return null;
  const blocks: { bytes: Uint8Array; block: Block }[] = [];
  for (const block of selected) {
    blocks.push({ bytes: encodeBlock(block), block });
    await letOthersRun();
  }
  const { parts, bytes, checksum } = encodeFile(blocks);
  const times = selected.flatMap(({ charges }) => charges.map((charge) => Number(charge.accrued_at)));
  const [fromMs, toMs] = times.length === 0 ? [null, null] : [times.reduce(smaller), times.reduce(larger)];
  const day = fromMs === null ? "others" : new Date(fromMs).toISOString().slice(0, 10);
  const file = `${day}-${checksum.slice(0, 16)}.ctx`;
  await folder.write(file, parts);
  return { file, checksum, bytes, blocks: blocks.length, fromMs, toMs };
}

// From now on its blocks may leave. False if somebody else has begun one meanwhile: there is one at a time, because two would
// have the same rows.
export function startArchive(written: WrittenArchive, nowMs: number) {
  return async (tx: Tx): Promise<number | null> => {
    const [started] = await tx.all(
      `INSERT INTO archives (number, state, file, checksum, bytes, created_at, from_at, to_at, blocks, moved, charges, accrued,
         settled, absorbed, refused, voided, failures)
       SELECT COALESCE(MAX(number), 0) + 1, 'moving', $1, $2, CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT),
         CAST($6 AS BIGINT), CAST($7 AS INTEGER), 0, 0, 0, 0, 0, 0, 0, 0
       FROM archives HAVING COUNT(CASE WHEN state <> 'archived' THEN 1 END) = 0
       ON CONFLICT (number) DO NOTHING
       RETURNING number`,
      [written.file, written.checksum, written.bytes, nowMs, written.fromMs, written.toMs, written.blocks],
    );
    return started === undefined ? null : Number(started.number);
  };
}

const smaller = (a: number, b: number) => Math.min(a, b);
const larger = (a: number, b: number) => Math.max(a, b);
