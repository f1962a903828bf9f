import type { Address } from "viem";
import { z } from "zod";
import type { Refund } from "../chain/chain.ts";
import { formatUsd } from "../domain/money.ts";
import type { Exposure } from "../domain/payer/payer.ts";
import { sentenceOf } from "../domain/text/sentence.ts";
import type { Preflight, PreflightFunds } from "../engine/accept/preflight/preflight.ts";
import { address, boundedUsd, time, timeOf, usd } from "./shapes.ts";

export const exposureSchema = z
  .object({ payer: address, pendingUsd: usd, heldUsd: usd, owedUsd: usd, debtUsd: usd })
  .meta({ id: "Exposure" });

export type ExposureView = z.infer<typeof exposureSchema>;

export function exposureView({ payer, pending, held, owed, debt }: Exposure): ExposureView {
  return {
    payer,
    pendingUsd: formatUsd(pending),
    heldUsd: formatUsd(held),
    owedUsd: formatUsd(owed),
    debtUsd: formatUsd(debt),
  };
}

export const fundsSchema = z
  .object({
    availableUsd: usd,
    balanceUsd: usd,
    // Null where the payer set no limit.
    allowanceUsd: usd.nullable(),
    dailyCapLeftUsd: usd.nullable(),
    // Deposited and not asked back.
    prepaidUsd: usd,
    // Whether the payer can be charged under a signed budget alone.
    consentRequired: z.boolean(),
    pendingUsd: usd,
    heldUsd: usd,
    // What of pending the platform does not absorb.
    owedUsd: usd,
    debtUsd: usd,
    // How much may be delivered beyond what is prepaid before it is settled, and what is left of that.
    creditLimitUsd: usd,
    creditLeftUsd: usd,
  })
  .meta({ id: "Funds" });

export type FundsView = z.infer<typeof fundsSchema>;

export function fundsView(funds: PreflightFunds): FundsView {
  return {
    availableUsd: formatUsd(funds.available),
    balanceUsd: formatUsd(funds.balance),
    allowanceUsd: boundedUsd(funds.allowance),
    dailyCapLeftUsd: boundedUsd(funds.dailyCapLeft),
    prepaidUsd: formatUsd(funds.prepaid),
    consentRequired: funds.consentRequired,
    pendingUsd: formatUsd(funds.pending),
    heldUsd: formatUsd(funds.held),
    owedUsd: formatUsd(funds.owed),
    debtUsd: formatUsd(funds.debt),
    creditLimitUsd: formatUsd(funds.creditLimit),
    creditLeftUsd: formatUsd(funds.creditLeft),
  };
}

export const spendableSchema = fundsSchema
  .extend({
    payer: address,
    allowed: z.boolean(),
    reason: z.string().nullable(),
    // Asked back of what is prepaid, and from when on it can be paid.
    refundingUsd: usd,
    refundReadyAt: time.nullable(),
  })
  .meta({ id: "Spendable" });

export type SpendableView = z.infer<typeof spendableSchema>;

export function spendableView(
  payer: Address,
  answer: Exclude<Preflight, { code: "no_wallet" }>,
  { amount, readyAt }: Refund,
): SpendableView {
  return {
    payer,
    allowed: answer.code === "ok",
    reason: answer.code === "ok" ? null : sentenceOf(answer.reason),
    ...fundsView(answer.funds),
    refundingUsd: formatUsd(amount),
    refundReadyAt: readyAt === 0n ? null : timeOf(Number(readyAt) * 1_000),
  };
}
