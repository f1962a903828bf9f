import type { Address, Hex } from "viem";
import { fillerOf } from "../../../domain/batch/submission.ts";
import { SettlementError } from "../../../domain/errors.ts";
import { isChargedTo } from "../../database/beginnings.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import type { Lease } from "../../operators/lease.ts";
import { validAddress, validTime } from "../../validate.ts";
import { ownSubmission, validId } from "../findSubmission.ts";
import { freeCharges } from "../outcome/abandon.ts";
import { storeSubmission } from "./planSubmission.ts";

// As many charges of an account as wait with one that breaks its batch. With more than that, the account breaks another one.
const MAX_POSTPONED = 10_000;

// Takes a planned batch apart before anything was signed: `drop` (accounts whose row cannot even be simulated) wait for `waitMs`
// without using up an attempt, with whatever else of theirs is due, so that they do not break the next batches too; all other charges are due again at once. Again without effect once it is taken apart. A nonce
// that it already had goes to a planned filler, which `listUnmined` then shows, so that later nonces are not stuck
// behind it.
export function unplanBatch(lease: Lease, id: Hex, drop: readonly Address[], waitMs: number, nowMs: number) {
  const batchId = validId(id);
  const dropped = drop.map((account) => validAddress("the account", account));
  const laterMs = validTime("the wait", nowMs + waitMs);
  return async (tx: Tx): Promise<void> => {
    const { kind, state, nonce, operator } = await ownSubmission(tx, lease, batchId);
    if (state.kind === "abandoned") return;
    if (kind !== "settle" || state.kind !== "planned") {
      throw new SettlementError(
        "invalid_input",
        `submission ${batchId} is ${state.kind}: signed bytes of it may be on their way`,
      );
    }
    for (const account of dropped) {
      await freeCharges(tx, batchId, laterMs, account);
      await postponeRest(tx, account, laterMs);
    }
    await freeCharges(tx, batchId, nowMs);
    await tx.run("UPDATE submissions SET state = 'abandoned', nonce = NULL WHERE id = $1", [batchId]);
    if (nonce !== null) await storeSubmission(tx, lease, fillerOf(operator, nonce), nowMs);
  };
}

async function postponeRest(tx: Tx, account: Address, dueAtMs: number): Promise<void> {
  await tx.run(
    `WITH rest AS MATERIALIZED
       (SELECT accrued_at, id FROM charges WHERE state = 'accrued' AND ${isChargedTo("$1")} AND due_at < $2
        ORDER BY due_at LIMIT ${MAX_POSTPONED} ${tx.locks.skipLocked})
     UPDATE charges SET due_at = $2 WHERE (accrued_at, id) IN (SELECT accrued_at, id FROM rest)`,
    [account, dueAtMs],
  );
  tx.due.move(account);
}
