import type { Address, Hex } from "viem";
import { answerIdOf, type Submission } from "../../domain/batch/submission.ts";
import { count, hex } from "../database/decode.ts";
import type { Tx } from "../database/transactions/tx.ts";
import type { Lease } from "../operators/lease.ts";
import { requireSubmission } from "../submissions/findSubmission.ts";
import { storeSubmission } from "../submissions/plan/planSubmission.ts";
import { validAddress, validBytes, validCount, validHash, validTime } from "../validate.ts";

export type AnswerPlan = {
  batchId: Hex;
  account: Address;
  court: Address;
  calldata: Hex;
  // How many answers whoever plans this one knows of: of two who plan the same one, both get it.
  answers: number;
};

// The next answer to a contest that is open. Null if it is open no longer, or if another answer was planned meanwhile: then whoever
// asks looks again.
export function planAnswer(lease: Lease, { batchId, account, court, calldata, answers }: AnswerPlan, nowMs: number) {
  const key = [validHash("the batch", batchId), validAddress("the account", account)] as const;
  const to = validAddress("the court", court);
  const bytes = validBytes("the calldata", calldata);
  validCount("the answers", answers);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<Submission | null> => {
    const id = answerIdOf(lease.operator, ...key, answers);
    const [row] = await tx.all(
      `UPDATE contests SET answers = $4 + 1, answer_id = $5
       WHERE batch_id = $1 AND account = $2 AND operator = $3 AND state = 'open' AND answers = $4
       RETURNING answers, answer_id`,
      [...key, lease.operator, answers, id],
    );
    if (row === undefined || count(row, "answers") !== answers + 1) return null;
    await storeSubmission(tx, lease, { id, kind: "answer", to, calldata: bytes, nonce: null }, nowMs);
    return requireSubmission(tx, hex(row, "answer_id"));
  };
}
