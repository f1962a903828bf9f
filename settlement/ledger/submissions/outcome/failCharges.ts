import type { Address, Hex } from "viem";
import type { ChargeFailure } from "../../../domain/batch/batch.ts";
import { microUsdc } from "../../../domain/money.ts";
import type { ToolId } from "../../../domain/toolId.ts";
import { address, amount, budgetId, count, hex, text } from "../../database/decode.ts";
import { chargeKeys, chunksOf, type Param, type Row, tuples } from "../../database/sql.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { lower } from "../../validate.ts";
import { openAbsorptions } from "./absorptions.ts";

export type RetryPolicy = {
  // After this many failures of the payer the platform absorbs the charge. The insurance account is tried until it pays.
  maxAttempts: number;
  insurance: Address;
  // How long to wait after the n-th failure. Passed in with its randomness, so that a test can decide it.
  backoffMs: (attempts: number) => number;
  // The most that the platform absorbs for a tool in any 24 hours; undefined if that is not known now.
  absorbable: (toolId: ToolId) => bigint | undefined;
  // How long a charge waits that the platform does not absorb, until its payer is tried again.
  owedRetryMs: number;
  // How long a charge waits whose tool may not earn more at present.
  deferMs: number;
};

export type FailedCharge = {
  id: Hex;
  payer: Address;
  budgetId: bigint | null;
  chargedTo: Address;
  // Null is the model.
  toolId: ToolId | null;
  amount: bigint;
  accruedAtMs: number;
  attempts: number;
  deferrals: number;
  owed: boolean;
  reason: ChargeFailure;
};

// The columns that it takes.
export const FAILED_COLUMNS =
  "id, payer, budget_id, charged_to, tool_id, amount, accrued_at, attempts, deferrals, owed";

export function failedChargeFrom(row: Row, reason: ChargeFailure): FailedCharge {
  return {
    id: hex(row, "id"),
    payer: address(row, "payer"),
    budgetId: budgetId(row),
    chargedTo: address(row, "charged_to"),
    toolId: row.tool_id === null ? null : (text(row, "tool_id") as ToolId),
    amount: amount(row),
    accruedAtMs: count(row, "accrued_at"),
    attempts: count(row, "attempts"),
    deferrals: count(row, "deferrals"),
    owed: row.owed === 1n,
    reason,
  };
}

type Fate = "again" | "absorbed" | "owed";

// These charges could not be paid. They are due again after a while, and after the last attempt the platform takes them
// over: for each tool no more in a day than its stake answers for, and what is above that stays the payer's debt to the tool's
// developer. The insurance account has no last attempt: it must be funded, and until then its charges come back, to whichever
// account that is by then. Attempts are counted all the same: they are part of a receipt, so that a batch of charges that failed
// never has the root of the batch that they failed in, which the chain would not settle again.
export async function failCharges(
  tx: Tx,
  charges: readonly FailedCharge[],
  retry: RetryPolicy,
  nowMs: number,
): Promise<void> {
  const fates = await decide(tx, charges, retry, nowMs);
  const insurance = lower(retry.insurance);
  // The charges of one account that failed as often wait for the same time, so that they are netted together again.
  const groups = Map.groupBy(
    charges,
    (charge) => `${whoIsNext(charge, insurance)} ${charge.attempts} ${fates.get(charge)}`,
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const attempts = first.attempts + 1;
    switch (fates.get(first)) {
      case "absorbed":
        await makeDue(tx, group, { chargedTo: insurance, attempts, dueAtMs: nowMs });
        for (const { payer, budgetId, amount } of group) {
          tx.change(payer, { pending: -amount, debt: microUsdc(amount) }, budgetId);
        }
        break;
      case "owed":
        await makeDue(tx, group, {
          chargedTo: first.chargedTo,
          attempts,
          dueAtMs: nowMs + retry.owedRetryMs,
          owed: true,
        });
        for (const { payer, amount, owed } of group) if (!owed) tx.change(payer, { owed: amount });
        break;
      default:
        await makeDue(tx, group, {
          chargedTo: whoIsNext(first, insurance),
          attempts,
          dueAtMs: nowMs + retry.backoffMs(attempts),
        });
    }
  }
  // What is owed is tried for as long as it is owed, which would be a row each time.
  const noted = charges.filter(({ owed }) => !owed);
  for (const { reason } of noted) tx.fail(reason, 1);
  for (const chunk of chunksOf(noted)) {
    const params: Param[] = [];
    for (const { id, attempts, reason } of chunk) params.push(id, attempts + 1, reason, nowMs);
    await tx.run(
      `INSERT INTO failures (charge_id, attempt, reason, failed_at) VALUES ${tuples(chunk.length, 4)}`,
      params,
    );
  }
}

// Who is charged when it is tried again. What is absorbed follows the insurance account when another one takes its place, unless that
// is its own payer: from a payer it would be counted as paid.
function whoIsNext({ chargedTo, payer }: FailedCharge, insurance: Address): Address {
  return chargedTo === payer || payer === insurance ? chargedTo : insurance;
}

// The model's costs go from one account of the platform to another, so that nobody outside gains by their being absorbed.
async function decide(
  tx: Tx,
  charges: readonly FailedCharge[],
  { insurance, maxAttempts, absorbable }: RetryPolicy,
  nowMs: number,
): Promise<Map<FailedCharge, Fate>> {
  // What the platform has taken over it does not take over again, whichever account is its insurance account by then.
  const isLast = ({ payer, chargedTo, attempts, deferrals }: FailedCharge) =>
    chargedTo === payer && payer !== lower(insurance) && attempts + 1 - deferrals >= maxAttempts;
  const last = charges.filter((charge) => isLast(charge) && !charge.owed);
  const absorptions = await openAbsorptions(
    tx,
    last.flatMap(({ toolId }) => (toolId === null ? [] : [toolId])),
    nowMs,
  );
  const fates = new Map<FailedCharge, Fate>(charges.map((charge) => [charge, charge.owed ? "owed" : "again"]));
  for (const charge of last) {
    const { toolId, amount } = charge;
    const most = toolId === null ? null : absorbable(toolId);
    // Then it is tried once more, and its tool's stake will be known by then.
    if (most === undefined) continue;
    const takes = toolId === null || most === null || absorptions.take(toolId, amount, most);
    fates.set(charge, takes ? "absorbed" : "owed");
  }
  await absorptions.write();
  return fates;
}

type Due = { chargedTo: Address; attempts: number; dueAtMs: number; owed?: boolean };

async function makeDue(tx: Tx, charges: readonly FailedCharge[], due: Due): Promise<void> {
  const { chargedTo, attempts, dueAtMs, owed = false } = due;
  for (const { amount } of charges) tx.due.add(chargedTo, { amount, dueAtMs });
  for (const chunk of chunksOf(charges)) {
    await tx.run(
      `UPDATE charges SET state = 'accrued', batch_id = NULL, charged_to = $1, attempts = $2, due_at = $3, owed = $4
       WHERE (accrued_at, id) IN ${chargeKeys(chunk.length, 5)}`,
      [chargedTo, attempts, dueAtMs, owed ? 1 : 0, ...chunk.flatMap(({ accruedAtMs, id }) => [accruedAtMs, id])],
    );
  }
}
