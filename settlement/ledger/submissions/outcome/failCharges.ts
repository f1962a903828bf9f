import type { Address, Hex } from "viem";
import type { ChargeFailure } from "../../../domain/batch.ts";
import { microUsdc } from "../../../domain/money.ts";
import { chargeKeys, chunksOf, type Param, tuples } from "../../database/sql.ts";
import type { Tx } from "../../database/tx.ts";
import { lower } from "../../validate.ts";

export type RetryPolicy = {
  // After this many failures of the payer the platform absorbs the charge. The insurance account is tried until it pays.
  maxAttempts: number;
  insurance: Address;
  // How long to wait after the n-th failure. Passed in with its randomness, so that a test can decide it.
  backoffMs: (attempts: number) => number;
};

export type FailedCharge = {
  id: Hex;
  payer: Address;
  chargedTo: Address;
  amount: bigint;
  accruedAtMs: number;
  attempts: number;
  reason: ChargeFailure;
};

// These charges could not be paid. They are due again after a while, and after the last attempt the platform takes them
// over. Its own account has no last attempt: it must be funded, and until then its charges come back. Attempts are
// counted all the same: they are part of a receipt, so that a batch of charges that failed never has the root of the batch
// that they failed in, which the chain would not settle again.
export async function failCharges(
  tx: Tx,
  charges: readonly FailedCharge[],
  retry: RetryPolicy,
  nowMs: number,
): Promise<void> {
  const insurance = lower(retry.insurance);
  // The charges of one account that failed as often wait for the same time, so that they are netted together again.
  const groups = Map.groupBy(charges, ({ chargedTo, attempts }) => `${chargedTo} ${attempts}`);
  for (const group of groups.values()) {
    const [{ chargedTo, attempts } = { chargedTo: insurance, attempts: 0 }] = group;
    const failures = attempts + 1;
    if (chargedTo === insurance || failures < retry.maxAttempts) {
      await makeDue(tx, group, { chargedTo, attempts: failures, dueAtMs: nowMs + retry.backoffMs(failures) });
    } else {
      await makeDue(tx, group, { chargedTo: insurance, attempts: failures, dueAtMs: nowMs });
      for (const { payer, amount } of group) tx.change(payer, { pending: -amount, debt: microUsdc(amount) });
    }
  }
  for (const chunk of chunksOf(charges)) {
    const params: Param[] = [];
    for (const { id, attempts, reason } of chunk) params.push(id, attempts + 1, reason, nowMs);
    await tx.run(
      `INSERT INTO failures (charge_id, attempt, reason, failed_at) VALUES ${tuples(chunk.length, 4)}`,
      params,
    );
  }
}

async function makeDue(
  tx: Tx,
  charges: readonly FailedCharge[],
  { chargedTo, attempts, dueAtMs }: { chargedTo: Address; attempts: number; dueAtMs: number },
): Promise<void> {
  for (const { amount } of charges) tx.due.add(chargedTo, { amount, dueAtMs });
  for (const chunk of chunksOf(charges)) {
    await tx.run(
      `UPDATE charges SET state = 'accrued', root = NULL, charged_to = $1, attempts = $2, due_at = $3
       WHERE (accrued_at, id) IN ${chargeKeys(chunk.length, 4)}`,
      [chargedTo, attempts, dueAtMs, ...chunk.flatMap(({ accruedAtMs, id }) => [accruedAtMs, id])],
    );
  }
}
