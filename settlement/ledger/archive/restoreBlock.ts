import { SettlementError } from "../../domain/errors.ts";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import { text } from "../database/decode.ts";
import { chunksOf, type Param, placeholders, type Row, tuples } from "../database/sql.ts";
import { lockOperators } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import type { Block } from "./format.ts";
import { archiveOf } from "./listArchives.ts";
import { addToSessions, count, lockPayers } from "./moveBlock.ts";
import { namesIn, placeOf } from "./names.ts";

export type RestoreStart =
  | { kind: "restoring"; moved: number }
  | { kind: "not_found" }
  | { kind: "busy"; number: number };

// From now on its blocks come back. One file at a time, whichever way it goes.
export function startRestore(number: number) {
  return async (tx: Tx): Promise<RestoreStart> => {
    await lockOperators(tx);
    const archive = await archiveOf(tx, number, tx.locks.forUpdate);
    if (archive === null) return { kind: "not_found" };
    const [other] = await tx.all("SELECT number FROM archives WHERE state <> 'archived' AND number <> $1", [number]);
    if (other !== undefined) return { kind: "busy", number: Number(other.number) };
    await tx.run("UPDATE archives SET state = 'restoring' WHERE number = $1", [number]);
    return { kind: "restoring", moved: archive.moved };
  };
}

export type RestoreOutcome = { kind: "restored"; left: number } | { kind: "elsewhere" };

// Puts the rows of a block back where they were, and forgets where they have been, in one commit. The last block to leave is the
// first to come back; with the first one the file is no longer part of the ledger, and stays where it is.
export function restoreBlock(number: number, position: number, block: Block) {
  return async (tx: Tx): Promise<RestoreOutcome> => {
    await lockOperators(tx);
    const archive = await archiveOf(tx, number, tx.locks.forUpdate);
    if (archive === null || archive.state !== "restoring" || archive.moved !== position + 1)
      return { kind: "elsewhere" };
    await addToSessions(tx, block.holds, -1n);
    await lockPayers(tx, block);
    await insert(tx, "turns", block.turns);
    await insert(tx, "holds", block.holds);
    await letOthersRun();
    await insert(tx, "charges", block.charges);
    await letOthersRun();
    await insert(tx, "failures", block.failures);
    await restoreBatches(tx, block);
    const place = placeOf({ archive: number, block: position });
    for (const chunk of chunksOf(namesIn(block))) {
      await tx.run(
        `DELETE FROM archived_names WHERE fingerprint IN (${placeholders(chunk.length, 2)}) AND place = $1`,
        [place, ...chunk],
      );
    }
    await count(tx, number, block, -1);
    if (position === 0) await tx.run("DELETE FROM archives WHERE number = $1", [number]);
    return { kind: "restored", left: position };
  };
}

// Enough for the widest table.
const ROWS_AT_ONCE = 100;

async function insert(tx: Tx, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  for (const chunk of chunksOf(rows, ROWS_AT_ONCE)) {
    const params = chunk.flatMap((row) => columns.map((column): Param => row[column] ?? null));
    const inserted = await tx.run(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${tuples(chunk.length, columns.length)}`,
      params,
    );
    if (inserted !== chunk.length) throw new SettlementError("drift", `${table} did not take back what had left it`);
  }
}

async function restoreBatches(tx: Tx, { batches, submissions, broadcasts }: Block): Promise<void> {
  for (const row of batches)
    await tx.run("UPDATE batches SET archived = 0 WHERE batch_id = $1", [text(row, "batch_id")]);
  // One that was taken in from the chain has none.
  await insert(
    tx,
    "receipts",
    batches.filter((row) => text(row, "receipts") !== ""),
  );
  for (const row of submissions) {
    await tx.run("UPDATE submissions SET calldata = $2 WHERE id = $1", [text(row, "id"), text(row, "calldata")]);
  }
  await insert(tx, "broadcasts", broadcasts);
}
