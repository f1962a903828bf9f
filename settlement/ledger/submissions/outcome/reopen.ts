import type { Address, Hex } from "viem";
import { hashName } from "../../archive/names.ts";
import { placesOf } from "../../archive/places.ts";
import { isOfBatch } from "../../database/beginnings.ts";
import { address, amount, count, hex, integer, text } from "../../database/decode.ts";
import type { Reader, Row } from "../../database/sql.ts";
import { lockOperators } from "../../database/transactions/lockOrder.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { interruptOperators } from "../../operators/lease.ts";
import { validAddress, validCount, validTime } from "../../validate.ts";
import { OF_BATCH } from "../adopt/takenOnChain.ts";
import { requireSubmission, validId } from "../findSubmission.ts";
import { readReceipts } from "../receipts.ts";
import { freeCharges } from "./abandon.ts";
import { outcomeFromJson } from "./outcomeJson.ts";
import { forgetOutcome } from "./recordInclusion.ts";
import { negative, takeBackAdopted } from "./takeBack.ts";

export type Reopening =
  | { kind: "reopened"; charges: number }
  // Its charges are due again, and its key is fenced off first.
  | { kind: "taken_back"; charges: number }
  // Its charges have left the ledger; the archive must be restored first.
  | { kind: "archived" }
  | { kind: "not_final" };

export type FinalSubmission = { id: Hex; kind: string; blockNumber: bigint; blockHash: Hex; txHash: Hex };

// What became final in this block or later, oldest first.
export function listFinalSince(block: bigint) {
  return async (sql: Reader): Promise<FinalSubmission[]> => {
    const rows = await sql.all(
      `SELECT id, kind, block_number, block_hash, tx_hash FROM submissions WHERE state = 'final' AND block_number >= $1
       ORDER BY block_number, nonce, id`,
      [block],
    );
    return rows.map(finalFrom);
  };
}

// What is final on a nonce of this operator's from `nonce` on, with bytes of its own.
export function listFinalFrom(operator: Address, nonce: number) {
  const account = validAddress("the operator", operator);
  validCount("the nonce", nonce);
  return async (sql: Reader): Promise<FinalSubmission[]> => {
    const rows = await sql.all(
      `SELECT s.id, s.kind, s.block_number, s.block_hash, s.tx_hash FROM submissions s
         JOIN broadcasts b ON b.tx_hash = s.tx_hash AND b.operator = s.operator AND b.nonce = s.nonce
       WHERE s.state = 'final' AND s.operator = $1 AND s.nonce >= $2 ORDER BY s.nonce`,
      [account, nonce],
    );
    return rows.map(finalFrom);
  };
}

const finalFrom = (row: Row): FinalSubmission => ({
  id: hex(row, "id"),
  kind: text(row, "kind"),
  blockNumber: integer(row, "block_number"),
  blockHash: hex(row, "block_hash"),
  txHash: hex(row, "tx_hash"),
});

// The chain has undone the block in which it was final. It is on its way again, with the bytes and the nonce that it had: whether
// those are mined once more or the nonce is spent without them, nobody pays twice, and what was delivered is still owed.
//
// That is not so if rows of it failed, or lines were put off: their charges have left it since, and if it is mined again it may
// take them as well. And of a batch that was taken in from the chain this ledger has no bytes. Both are given up, and their key is fenced off: before
// anything is planned, every nonce on which they may come back is spent. If they do come back, the watch halts, and what they
// then take is taken in as the chain has it.
export function reopen(id: Hex, nowMs: number) {
  const wanted = validId(id);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<Reopening> => {
    await lockOperators(tx);
    const { kind, operator, state, nonce } = await requireSubmission(tx, wanted);
    if (state.kind !== "final") return { kind: "not_final" };
    const batch = kind === "settle" ? await findFinal(tx, wanted) : null;
    if (batch?.archived) return { kind: "archived" };
    await interruptOperators(tx);
    const charges = batch === null ? 0 : await reopenBatch(tx, wanted, batch, state.gasUsed, nowMs);
    if (batch !== null && (batch.adopted || batch.hasLeft || nonce === null)) {
      await freeCharges(tx, wanted, nowMs);
      await leaveBlock(tx, wanted, "abandoned");
      await tx.run("UPDATE submissions SET nonce = NULL WHERE id = $1", [wanted]);
      await tx.run("UPDATE operators SET fence = -1 WHERE operator = $1", [operator]);
      return { kind: "taken_back", charges };
    }
    await leaveBlock(tx, wanted, "submitted");
    return { kind: "reopened", charges };
  };
}

async function leaveBlock(tx: Tx, id: Hex, state: "submitted" | "abandoned"): Promise<void> {
  await tx.run(
    `UPDATE submissions SET state = $2, tx_hash = NULL, block_number = NULL, block_hash = NULL, gas_used = NULL WHERE id = $1`,
    [id, state],
  );
}

// `hasLeft`: charges that failed in it, or were put off, have left it since.
type FinalBatch = { adopted: boolean; archived: boolean; hasLeft: boolean; finalAtMs: number };

async function findFinal(tx: Tx, batchId: Hex): Promise<FinalBatch> {
  const [row = {}] = await tx.all("SELECT outcome, final_at, adopted, archived FROM batches WHERE batch_id = $1", [
    batchId,
  ]);
  const { failed, refused } = outcomeFromJson(text(row, "outcome"));
  const hasLeft = failed.length > 0 || refused.some(({ reason }) => reason === "earning_cap");
  // Charges leave for the archive before the batch that they were in.
  const charges = (await readReceipts(tx, batchId)).map(({ chargeId }) => hashName(chargeId));
  const archived = count(row, "archived") === 1 || (await placesOf(tx, charges)).size > 0;
  return { adopted: count(row, "adopted") === 1, archived, hasLeft, finalAtMs: count(row, "final_at") };
}

async function reopenBatch(
  tx: Tx,
  batchId: Hex,
  { adopted, finalAtMs }: FinalBatch,
  gasUsed: bigint,
  nowMs: number,
): Promise<number> {
  if (adopted) return takeBackAdopted(tx, batchId, nowMs);
  // Taken out of the same moment of the time line that it was counted in.
  await uncountSettled(tx, batchId, gasUsed, finalAtMs);
  await uncountPaid(tx, batchId);
  const refused = await tx.all(
    `UPDATE charges SET state = 'batched' WHERE ${isOfBatch("$1")} AND state = 'refused'
     RETURNING payer, charged_to, amount, cleared`,
    [batchId],
  );
  for (const row of refused) {
    tx.count(finalAtMs, { refused: negative(amount(row)) });
    if (row.charged_to !== row.payer && row.cleared === 0n) tx.change(address(row, "payer"), { debt: amount(row) });
  }
  await forgetOutcome(tx, batchId);
  await tx.run("DELETE FROM earnings WHERE batch_id = $1", [batchId]);
  await tx.run("UPDATE batches SET final_at = NULL WHERE batch_id = $1", [batchId]);
  const [reopened] = await tx.all(`SELECT COUNT(*) AS charges FROM charges WHERE ${OF_BATCH}`, [batchId]);
  return count(reopened ?? {}, "charges");
}

// What each payer had paid for good in it.
async function uncountPaid(tx: Tx, batchId: Hex): Promise<void> {
  const rows = await tx.all(
    `SELECT payer, CAST(SUM(amount) AS BIGINT) AS amount FROM charges WHERE ${OF_BATCH} AND charged_to = payer GROUP BY payer`,
    [batchId],
  );
  for (const row of rows) tx.change(address(row, "payer"), { settled: -amount(row) });
}

async function uncountSettled(tx: Tx, batchId: Hex, gasUsed: bigint, finalAtMs: number): Promise<void> {
  const rows = await tx.all(
    `SELECT CASE WHEN charged_to = payer THEN 'settled' ELSE 'absorbed' END AS ending, COUNT(*) AS charges,
       CAST(SUM(amount) AS BIGINT) AS amount, CAST(SUM(accrued_at) AS BIGINT) AS accrued_at
     FROM charges WHERE ${OF_BATCH}
     GROUP BY CASE WHEN charged_to = payer THEN 'settled' ELSE 'absorbed' END`,
    [batchId],
  );
  for (const row of rows) {
    const ended = negative(amount(row));
    tx.count(finalAtMs, row.ending === "settled" ? { settled: ended } : { absorbed: ended });
    const charges = count(row, "charges");
    const latencyMs = BigInt(charges) * BigInt(finalAtMs) - integer(row, "accrued_at");
    tx.count(finalAtMs, { settledCharges: -charges, latencyMs: latencyMs > 0n ? -latencyMs : 0n });
  }
  tx.count(finalAtMs, { gasUsed: -gasUsed });
}
