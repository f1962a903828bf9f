import type { Address } from "viem";
import type { Spendable } from "../chain/chain.ts";
import { type MicroUsdc, microUsdc } from "../domain/money.ts";
import type { Exposure } from "../domain/payer.ts";
import type { Ledger } from "../ledger/ledger.ts";

export type PreflightFigures = {
  // What the payer could be charged beyond what is pending and held already.
  available: MicroUsdc;
  balance: MicroUsdc;
  allowance: bigint;
  dailyCapLeft: bigint;
  pending: MicroUsdc;
  held: MicroUsdc;
  debt: MicroUsdc;
};

export type Preflight =
  | { code: "ok"; figures: PreflightFigures }
  | { code: "no_wallet" }
  // The cap is not set or too small, or today's part of it is used up.
  | { code: "insufficient_allowance"; figures: PreflightFigures; reason: string }
  // There is not enough USDC, it cannot be moved, or the platform had to pay for this payer before.
  | { code: "payment_failed"; figures: PreflightFigures; reason: string };

// Whether a payer can pay `amount` for something that has not run yet: one read of the chain, less what the chain does
// not know of yet. It costs no gas and changes nothing.
export async function preflight(
  ledger: Ledger,
  readSpendable: (payer: Address) => Promise<Spendable>,
  payer: Address | null,
  amount: MicroUsdc,
): Promise<Preflight> {
  if (payer === null) return { code: "no_wallet" };
  const [spendable, [exposure]] = await Promise.all([readSpendable(payer), ledger.exposures([payer])]);
  const figures = figuresOf(spendable, exposure);
  const committed = figures.pending + figures.held;
  const needed = committed + amount;
  if (figures.debt > 0n) {
    return { code: "payment_failed", figures, reason: "an earlier charge was paid by the platform and is still owed" };
  }
  if (spendable.allowance < needed) {
    return { code: "insufficient_allowance", figures, reason: "the spending cap is not set or too small" };
  }
  if (spendable.dailyCapLeft < needed) {
    return { code: "insufficient_allowance", figures, reason: "the payer's own daily cap leaves too little" };
  }
  if (spendable.balance < needed) return { code: "payment_failed", figures, reason: "there is not enough USDC" };
  if (spendable.amount < needed) return { code: "payment_failed", figures, reason: "the token lets nothing be taken" };
  return { code: "ok", figures };
}

function figuresOf(spendable: Spendable, exposure: Exposure | undefined): PreflightFigures {
  const pending = exposure?.pending ?? microUsdc(0n);
  const held = exposure?.held ?? microUsdc(0n);
  const available = spendable.amount - pending - held;
  return {
    available: microUsdc(available > 0n ? available : 0n),
    balance: spendable.balance,
    allowance: spendable.allowance,
    dailyCapLeft: spendable.dailyCapLeft,
    pending,
    held,
    debt: exposure?.debt ?? microUsdc(0n),
  };
}
