import { SettlementError } from "../../domain/errors.ts";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import { address, amount, budgetId, text } from "../database/decode.ts";
import { chargeKeys, chunksOf, placeholders, type Row, tuples } from "../database/sql.ts";
import { lockOperators } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import type { Block } from "./format.ts";
import { archiveOf } from "./listArchives.ts";
import { namesIn, placeOf } from "./names.ts";
import { batchesOf } from "./selectBlocks.ts";

// `elsewhere`: somebody else has moved it, or is restoring the file.
export type MoveOutcome = { kind: "moved"; left: number } | { kind: "elsewhere" };

// What was written is not what is there: a debt was repaid since, or a batch put on its way again.
export class Changed extends Error {}

const NAMES_AT_ONCE = 500;

// Takes the rows of a block out of the ledger, and remembers where they are, in one commit. Every row that leaves is compared
// with the one in the file.
export function moveBlock(number: number, position: number, block: Block) {
  return async (tx: Tx): Promise<MoveOutcome> => {
    await lockOperators(tx);
    const archive = await archiveOf(tx, number, tx.locks.forUpdate);
    if (archive === null || archive.state !== "moving" || archive.moved !== position) return { kind: "elsewhere" };
    // Each step takes some milliseconds, and others are read, heard and answered in between.
    await moveHolds(tx, block);
    await letOthersRun();
    await moveCharges(tx, block);
    await letOthersRun();
    await moveBatches(tx, block);
    await lockPayers(tx, block);
    await letOthersRun();
    await moveTurns(tx, block);
    await letOthersRun();
    await remember(tx, block, placeOf({ archive: number, block: position }));
    await count(tx, number, block, 1);
    await tx.run("UPDATE archives SET state = 'archived' WHERE number = $1 AND moved = blocks", [number]);
    return { kind: "moved", left: archive.blocks - position - 1 };
  };
}

// The file ends here: what follows in it has changed since, and goes into another file.
export function cutArchive(number: number) {
  return async (tx: Tx): Promise<void> => {
    await lockOperators(tx);
    const archive = await archiveOf(tx, number, tx.locks.forUpdate);
    if (archive?.state !== "moving") return;
    if (archive.moved === 0) await tx.run("DELETE FROM archives WHERE number = $1", [number]);
    else await tx.run("UPDATE archives SET state = 'archived', blocks = moved WHERE number = $1", [number]);
  };
}

async function moveTurns(tx: Tx, { turns }: Block): Promise<void> {
  for (const chunk of chunksOf(turns)) {
    const ids = chunk.map((row) => text(row, "id"));
    same(await tx.all(`DELETE FROM turns WHERE id IN (${placeholders(ids.length)}) RETURNING *`, ids), chunk);
  }
}

// Payers' rows change with the commit, and come before turns in the order of locks.
export async function lockPayers(tx: Tx, { charges }: Block): Promise<void> {
  const payers = [...new Set(charges.map((row) => address(row, "payer")))];
  if (tx.locks.forUpdate === "" || payers.length === 0) return;
  await tx.all(
    `SELECT payer FROM payers WHERE payer IN (${placeholders(payers.length)}) ORDER BY payer ${tx.locks.forUpdate}`,
    payers,
  );
}

// Locked in the order in which everybody locks them.
async function moveHolds(tx: Tx, { holds }: Block): Promise<void> {
  for (const chunk of chunksOf(holds)) {
    const ids = chunk.map((row) => text(row, "call_id"));
    const of = `WHERE call_id IN (${placeholders(ids.length)})`;
    same(await tx.all(`SELECT * FROM holds ${of} ORDER BY call_id ${tx.locks.forUpdate}`, ids), chunk);
    await tx.run(`DELETE FROM holds ${of}`, ids);
  }
  await addToSessions(tx, holds, 1n);
}

// What a session has spent is the sum of its captured calls, here and in the archive.
export async function addToSessions(tx: Tx, holds: readonly Row[], sign: bigint): Promise<void> {
  const captured = holds.filter(({ state }) => state === "captured");
  const sessions = [...Map.groupBy(captured, (row) => text(row, "session_id"))].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [id, own] of sessions) {
    const sum = own.reduce((total, row) => total + amount(row), 0n);
    await tx.run("UPDATE sessions SET archived = archived + $2 WHERE id = $1", [id, sign * sum]);
  }
}

async function moveCharges(tx: Tx, { charges, failures }: Block): Promise<void> {
  const batchIds = [...new Set(charges.flatMap((row) => (row.batch_id === null ? [] : [text(row, "batch_id")])))];
  for (const chunk of chunksOf(batchIds)) {
    const open = await tx.all(
      `SELECT id FROM submissions WHERE id IN (${placeholders(chunk.length)}) AND state <> 'final'`,
      chunk,
    );
    if (open.length > 0) throw new Changed("a batch is on its way again");
  }
  for (const chunk of chunksOf(charges)) {
    const keys = chunk.flatMap(({ accrued_at: at, id }) => [at as bigint, id as string]);
    same(
      await tx.all(`DELETE FROM charges WHERE (accrued_at, id) IN ${chargeKeys(chunk.length, 1)} RETURNING *`, keys),
      chunk,
    );
  }
  const tried = charges.filter(({ attempts }) => attempts !== 0n).map((row) => text(row, "id"));
  const taken: Row[] = [];
  for (const chunk of chunksOf(tried)) {
    taken.push(
      ...(await tx.all(`DELETE FROM failures WHERE charge_id IN (${placeholders(chunk.length)}) RETURNING *`, chunk)),
    );
  }
  same(taken, failures);
}

async function moveBatches(tx: Tx, block: Block): Promise<void> {
  if (block.batches.length === 0) return;
  const batchIds = block.batches.map((row) => text(row, "batch_id"));
  const there = await batchesOf(tx, batchIds);
  same(there.batches, block.batches);
  same(there.submissions, block.submissions);
  same(there.broadcasts, block.broadcasts);
  const of = (key: string) => `WHERE ${key} IN (${placeholders(batchIds.length)})`;
  await tx.run(`DELETE FROM broadcasts ${of("submission_id")}`, batchIds);
  const emptied = await tx.run(`UPDATE submissions SET calldata = '' ${of("id")} AND state = 'final'`, batchIds);
  if (emptied !== batchIds.length) throw new Changed("a batch is on its way again");
  await tx.run(`DELETE FROM receipts ${of("batch_id")}`, batchIds);
  await tx.run(`UPDATE batches SET archived = 1 ${of("batch_id")}`, batchIds);
}

async function remember(tx: Tx, block: Block, place: bigint): Promise<void> {
  for (const chunk of chunksOf(namesIn(block), NAMES_AT_ONCE)) {
    await tx.run(
      `INSERT INTO archived_names (fingerprint, place) VALUES ${tuples(chunk.length, 2)}`,
      chunk.flatMap((name) => [name, place]),
    );
  }
}

// What a block adds to the sums of its file.
export async function count(tx: Tx, number: number, { charges, failures }: Block, sign: 1 | -1): Promise<void> {
  const sums = { settled: 0n, absorbed: 0n, refused: 0n, voided: 0n };
  for (const charge of charges) {
    const ending = endingOf(charge);
    sums[ending] += amount(charge);
    if (ending === "settled") {
      tx.change(address(charge, "payer"), { archived: BigInt(sign) * amount(charge) }, budgetId(charge));
    }
  }
  const by = Object.values(sums).map((sum) => BigInt(sign) * sum);
  await tx.run(
    `UPDATE archives SET moved = moved + $2, charges = charges + $3, settled = settled + $4, absorbed = absorbed + $5,
       refused = refused + $6, voided = voided + $7, accrued = accrued + $8, failures = failures + $9
     WHERE number = $1`,
    [
      ...[number, sign, sign * charges.length, ...by],
      ...[by.reduce((total, sum) => total + sum, 0n), sign * failures.length],
    ],
  );
}

export function endingOf(charge: Row): "settled" | "absorbed" | "refused" | "voided" {
  if (charge.state === "refused" || charge.state === "voided") return charge.state;
  if (charge.state !== "batched") throw new SettlementError("drift", `charge ${charge.id} has not come to its end`);
  return charge.charged_to === charge.payer ? "settled" : "absorbed";
}

// To the last column. Rows of a table come in any order.
function same(there: readonly Row[], written: readonly Row[]): void {
  const [a, b] = [there, written].map((rows) => rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)));
  const isSame = (one: Row, other: Row | undefined) =>
    other !== undefined && Object.keys({ ...one, ...other }).every((column) => one[column] === other[column]);
  if (a?.length !== b?.length || !a?.every((row, i) => isSame(row, b?.[i]))) {
    throw new Changed("a row is not as it was written");
  }
}

// A failure has no name of its own; those of a charge are told apart by their number.
const keyOf = (row: Row) =>
  String(row.tx_hash ?? row.call_id ?? row.id ?? row.batch_id ?? `${row.charge_id} ${row.attempt} ${row.failed_at}`);
