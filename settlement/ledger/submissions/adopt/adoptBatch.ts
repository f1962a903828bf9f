import type { Address, Hex } from "viem";
import type { BatchOutcome } from "../../../domain/batch/batch.ts";
import type { Inclusion } from "../../../domain/batch/submission.ts";
import { type MicroUsdc, microUsdc } from "../../../domain/money.ts";
import type { ToolId } from "../../../domain/toolId.ts";
import { count, hex } from "../../database/decode.ts";
import { chunksOf, placeholders } from "../../database/sql.ts";
import { lockOperators } from "../../database/transactions/lockOrder.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { FIRST_FENCE } from "../../operators/acquireLease.ts";
import { interruptOperators, NOBODY } from "../../operators/lease.ts";
import { lower, validHash, validTime } from "../../validate.ts";
import { submissionOf } from "../findSubmission.ts";
import { freeCharges } from "../outcome/abandon.ts";
import { creditPayees } from "../outcome/finalize.ts";
import { outcomeToJson } from "../outcome/outcomeJson.ts";
import { forgetOutcome } from "../outcome/recordInclusion.ts";
import { readReceipts } from "../receipts.ts";
import { listUnexplained, payFrom, selectPayable } from "./payFromUnexplained.ts";

// What a batch took from an account for a tool, or for the model.
export type TakenLine = { chargedTo: Address; toolId: ToolId | null; amount: MicroUsdc };

// A final batch of one of our keys, as the chain has it.
export type FoundBatch = {
  batchId: Hex;
  operator: Address;
  router: Address;
  calldata: Hex;
  rows: number;
  inclusion: Inclusion;
  outcome: BatchOutcome;
  taken: readonly TakenLine[];
  // Whether it has other rows than the batch that this ledger has made under the same root.
  otherRows: boolean;
  // Batches of this ledger whose roots the chain has settled with other rows as well. They will never be ours, so that nobody
  // has to wait for them: two of them would wait for each other.
  lost?: readonly Hex[];
};

export type Adoption =
  // `unexplained` is what no charge of this ledger accounts for.
  | { kind: "adopted"; charges: number; unexplained: MicroUsdc }
  | { kind: "known" }
  // Charges in batches that are still on their way cannot be compared yet.
  | { kind: "busy"; batchId: Hex };

// Takes in a batch that the chain has settled and the ledger does not stand by: it becomes final here, and the charges that
// it has paid, oldest first, with it. Which charges they were is known only if the ledger had made the batch itself and
// given it up; otherwise it is told from account, tool and amount, so that nobody pays for more than was delivered. Whoever has
// a key can settle a root that is on its way with other rows, after which nobody can settle it again: what those have paid of
// the batch is paid, and the rest of it is due again.
export function adoptBatch(found: FoundBatch, nowMs: number) {
  const batchId = validHash("the batch", found.batchId);
  validTime("now", nowMs);
  return (tx: Tx) => adopt(tx, { ...found, batchId }, nowMs);
}

async function adopt(tx: Tx, found: FoundBatch, nowMs: number): Promise<Adoption> {
  const { batchId } = found;
  await lockOperators(tx);
  const known = await submissionOf(tx, batchId);
  const isPending = known !== null && known.state.kind !== "abandoned";
  if (isPending && (known.state.kind === "final" || !found.otherRows)) return { kind: "known" };
  const waiting = await tx.all(
    `SELECT id FROM submissions WHERE kind = 'settle' AND state IN ('planned', 'submitted', 'reverted') AND id <> $1`,
    [batchId],
  );
  const busy = waiting.map((row) => hex(row, "id")).find((id) => !found.lost?.includes(id));
  if (busy !== undefined) return { kind: "busy", batchId: busy };
  await interruptOperators(tx);
  if (isPending) {
    await forgetOutcome(tx, batchId);
    await freeCharges(tx, batchId, nowMs);
  }
  await store(tx, found, nowMs);
  // A ledger that does not know what was settled for it is a copy, whether or not anything else shows that, or somebody has a key.
  // Either way more may be on its way, and nothing is planned until every nonce on which it can wait is spent.
  if (known === null) await tx.run("UPDATE operators SET fence = -1 WHERE fence = 0 AND retired = 0");
  for (const { chargedTo, toolId, amount } of found.taken) {
    await tx.run(
      `INSERT INTO unexplained_payments (batch_id, charged_to, tool_id, amount) VALUES ($1, $2, $3, $4)
       ON CONFLICT (batch_id, charged_to, tool_id) DO UPDATE SET amount = unexplained_payments.amount + excluded.amount`,
      [batchId, lower(chargedTo), toolId === null ? "" : lower(toolId), amount],
    );
  }
  let charges = 0;
  // Those that were in it when this ledger made it come first.
  for (const own of known === null ? [false] : [true, false]) {
    for (const payment of await listUnexplained(tx, { batchId })) {
      charges += (await payFrom(tx, payment, await selectPayable(tx, payment, own), nowMs)).size;
    }
  }
  if (known !== null && found.otherRows) await renameBatch(tx, batchId);
  const left = await listUnexplained(tx, { batchId });
  return { kind: "adopted", charges, unexplained: microUsdc(left.reduce((sum, { amount }) => sum + amount, 0n)) };
}

// What is left of a batch whose root somebody else has used up must not make that root again. Attempts are part of a receipt:
// one charge that was put off once more makes it another batch.
async function renameBatch(tx: Tx, batchId: Hex): Promise<void> {
  const own = (await readReceipts(tx, batchId)).map(({ chargeId }) => chargeId);
  for (const chunk of chunksOf(own)) {
    const [charge] = await tx.all(
      `SELECT accrued_at, id FROM charges WHERE state = 'accrued' AND id IN (${placeholders(chunk.length)})
       ORDER BY id LIMIT 1 ${tx.locks.forUpdate}`,
      chunk,
    );
    if (charge === undefined) continue;
    await tx.run(
      "UPDATE charges SET attempts = attempts + 1, deferrals = deferrals + 1 WHERE accrued_at = $1 AND id = $2",
      [count(charge, "accrued_at"), hex(charge, "id")],
    );
    return;
  }
}

async function store(
  tx: Tx,
  { batchId, operator, router, calldata, rows, inclusion, outcome }: FoundBatch,
  nowMs: number,
) {
  const { txHash, blockNumber, blockHash, gasUsed } = inclusion;
  // The copy may be older than the first use of the key.
  await tx.run(
    `INSERT INTO operators (operator, holder, token, until_at, next_nonce, fence) VALUES ($1, $2, 0, 0, 0, ${FIRST_FENCE})
     ON CONFLICT DO NOTHING`,
    [lower(operator), NOBODY],
  );
  await tx.run(
    `INSERT INTO submissions (id, kind, operator, nonce, recipient, calldata, gas_limit, created_at, state, tx_hash,
       block_number, block_hash, gas_used)
     VALUES ($1, 'settle', $2, NULL, $3, $4, 0, $5, 'final', $6, $7, $8, $9)
     ON CONFLICT (id) DO UPDATE SET state = 'final', operator = excluded.operator, nonce = NULL,
       calldata = excluded.calldata, tx_hash = excluded.tx_hash, block_number = excluded.block_number, block_hash = excluded.block_hash,
       gas_used = excluded.gas_used`,
    [batchId, lower(operator), lower(router), calldata, nowMs, lower(txHash), blockNumber, lower(blockHash), gasUsed],
  );
  await tx.run(
    `INSERT INTO batches (batch_id, row_count, charge_count, total, outcome, created_at, final_at, adopted)
     VALUES ($1, $2, 0, $3, $4, $5, $5, 1)
     ON CONFLICT (batch_id) DO UPDATE SET row_count = excluded.row_count, total = excluded.total, outcome = excluded.outcome,
       final_at = excluded.final_at, adopted = 1`,
    [batchId, rows, outcome.charged, outcomeToJson(outcome), nowMs],
  );
  await creditPayees(tx, batchId, outcome, nowMs);
}
