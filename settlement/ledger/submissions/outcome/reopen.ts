import type { Hex } from "viem";
import type { MicroUsdc } from "../../../domain/money.ts";
import { address, amount, count, hex, integer, text } from "../../database/decode.ts";
import { lockOperators } from "../../database/lockOrder.ts";
import type { Reader } from "../../database/sql.ts";
import type { Tx } from "../../database/tx.ts";
import { OF_BATCH } from "../adopt/takenOnChain.ts";
import { requireSubmission, validId } from "../findSubmission.ts";
import { countPaid } from "./finalize.ts";
import { outcomeFromJson } from "./outcomeJson.ts";
import { forgetOutcome } from "./recordInclusion.ts";

export type Reopening =
  | { kind: "reopened"; charges: number }
  | { kind: "not_final" }
  // This ledger has none of its bytes; it took the batch in from the chain.
  | { kind: "adopted" }
  // Its charges have left the ledger; the archive must be restored first.
  | { kind: "archived" }
  // Charges that failed in it, or were put off, have left it since. If it is mined again it may take them as well.
  | { kind: "failed_rows"; rows: number };

export type FinalSubmission = { id: Hex; kind: string; blockNumber: bigint; blockHash: Hex; txHash: Hex };

// What became final in this block or later, oldest first.
export function listFinalSince(block: bigint) {
  return async (sql: Reader): Promise<FinalSubmission[]> => {
    const rows = await sql.all(
      `SELECT id, kind, block_number, block_hash, tx_hash FROM submissions WHERE state = 'final' AND block_number >= $1
       ORDER BY block_number, nonce, id`,
      [block],
    );
    return rows.map((row) => ({
      id: hex(row, "id"),
      kind: text(row, "kind"),
      blockNumber: integer(row, "block_number"),
      blockHash: hex(row, "block_hash"),
      txHash: hex(row, "tx_hash"),
    }));
  };
}

// The chain has undone the block in which it was final. It is on its way again, with the bytes and the nonce that it had: whether
// those are mined once more or the nonce is spent without them, nobody pays twice, and what was delivered is still owed.
export function reopen(id: Hex) {
  const wanted = validId(id);
  return async (tx: Tx): Promise<Reopening> => {
    await lockOperators(tx);
    const { kind, state, nonce } = await requireSubmission(tx, wanted);
    if (state.kind !== "final") return { kind: "not_final" };
    if (nonce === null) return { kind: "adopted" };
    const charges = kind === "settle" ? await reopenBatch(tx, wanted, state.gasUsed) : 0;
    if (typeof charges !== "number") return charges;
    await tx.run(
      `UPDATE submissions SET state = 'submitted', tx_hash = NULL, block_number = NULL, block_hash = NULL, gas_used = NULL
       WHERE id = $1`,
      [wanted],
    );
    return { kind: "reopened", charges };
  };
}

async function reopenBatch(tx: Tx, root: Hex, gasUsed: bigint): Promise<number | Reopening> {
  const [batch] = await tx.all("SELECT outcome, final_at, charge_count FROM batches WHERE root = $1", [root]);
  const { failed, refused: lines } = outcomeFromJson(text(batch ?? {}, "outcome"));
  const left = new Set(
    [...failed, ...lines.filter(({ reason }) => reason === "earning_cap")].map(({ chargedTo }) => chargedTo),
  );
  if (left.size > 0) return { kind: "failed_rows", rows: left.size };
  const [here] = await tx.all("SELECT COUNT(*) AS charges FROM charges WHERE root = $1", [root]);
  if (count(here ?? {}, "charges") < count(batch ?? {}, "charge_count")) return { kind: "archived" };
  // Taken out of the same moment of the time line that it was counted in.
  const finalAtMs = count(batch ?? {}, "final_at");
  await uncountSettled(tx, root, gasUsed, finalAtMs);
  await countPaid(tx, root, -1n);
  const refused = await tx.all(
    "UPDATE charges SET state = 'batched' WHERE root = $1 AND state = 'refused' RETURNING payer, charged_to, amount, cleared",
    [root],
  );
  for (const row of refused) {
    tx.count(finalAtMs, { refused: negative(amount(row)) });
    if (row.charged_to !== row.payer && row.cleared === 0n) tx.change(address(row, "payer"), { debt: amount(row) });
  }
  await forgetOutcome(tx, root);
  await tx.run("DELETE FROM earnings WHERE root = $1", [root]);
  await tx.run("UPDATE batches SET final_at = NULL WHERE root = $1", [root]);
  const [reopened] = await tx.all(`SELECT COUNT(*) AS charges FROM charges WHERE ${OF_BATCH}`, [root]);
  return count(reopened ?? {}, "charges");
}

async function uncountSettled(tx: Tx, root: Hex, gasUsed: bigint, finalAtMs: number): Promise<void> {
  const rows = await tx.all(
    `SELECT CASE WHEN charged_to = payer THEN 'settled' ELSE 'absorbed' END AS ending, COUNT(*) AS charges,
       CAST(SUM(amount) AS BIGINT) AS amount, CAST(SUM(accrued_at) AS BIGINT) AS accrued_at
     FROM charges WHERE ${OF_BATCH}
     GROUP BY CASE WHEN charged_to = payer THEN 'settled' ELSE 'absorbed' END`,
    [root],
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

// Only a sum can be reduced; no amount is ever negative.
const negative = (value: MicroUsdc) => -value as MicroUsdc;
