import type { Address } from "viem";
import type { Spendable } from "../../chain/chain.ts";
import type { ReadSpendable } from "../../chain/readSpendable.ts";
import { larger, type MicroUsdc, microUsdc, smaller } from "../../domain/money.ts";
import type { Exposure } from "../../domain/payer.ts";
import type { Ledger } from "../../ledger/ledger.ts";

export type PreflightFunds = {
  // What the payer could be charged beyond what is pending and held already.
  available: MicroUsdc;
  balance: MicroUsdc;
  allowance: bigint;
  dailyCapLeft: bigint;
  // What of the prepaid balance the payer has not asked back.
  prepaid: MicroUsdc;
  // Whether the payer can be charged under a budget alone.
  consentRequired: boolean;
  pending: MicroUsdc;
  held: MicroUsdc;
  debt: MicroUsdc;
};

export type Preflight =
  // `spendable` is what all that the payer owes may come to, as the chain said it at a block.
  | { code: "ok"; funds: PreflightFunds; spendable: { amount: bigint; atBlock: bigint } }
  | { code: "no_wallet" }
  // The cap is not set or too small, or today's part of it is used up.
  | { code: "insufficient_allowance"; funds: PreflightFunds; reason: string }
  // There is not enough USDC, it cannot be moved, or the platform had to pay for this payer before.
  | { code: "payment_failed"; funds: PreflightFunds; reason: string }
  // The payer demands a signed budget, and there is none.
  | { code: "consent_required"; funds: PreflightFunds; reason: string };

export type Refusal = Exclude<Preflight, { code: "ok" }>;

// Whether a payer can pay `amount` for something that has not run yet: one read of the chain, less what the chain does
// not know of yet. It costs no gas and changes nothing.
//
// What a payer owes is taken in one row, and a row draws either on the prepaid balance or on the wallet. So all that is owed must
// fit into one of the two: their sum would promise what no row could take.
export async function preflight(
  ledger: Ledger,
  readSpendable: ReadSpendable,
  payer: Address | null,
  amount: MicroUsdc,
  // Since which block the chain must have been asked.
  notBefore = 0n,
): Promise<Preflight> {
  if (payer === null) return { code: "no_wallet" };
  const [spendable, [exposure]] = await Promise.all([readSpendable(payer, notBefore), ledger.readExposures([payer])]);
  const funds = fundsOf(spendable, exposure);
  const committed = funds.pending + funds.held;
  const needed = committed + amount;
  if (funds.debt > 0n) {
    return { code: "payment_failed", funds, reason: "an earlier charge was paid by the platform and is still owed" };
  }
  if (funds.consentRequired) {
    const reason = "the payer demands consent: sign a budget, and send it as budget and signature";
    return { code: "consent_required", funds, reason };
  }
  if (spendable.dailyCapLeft < needed) {
    return { code: "insufficient_allowance", funds, reason: "the payer's own daily cap leaves too little" };
  }
  const ok = { code: "ok", funds, spendable: { amount: payableOf(spendable), atBlock: spendable.atBlock } } as const;
  if (spendable.prepaid >= needed) return ok;
  if (spendable.allowance < needed) {
    const cap = "the spending cap is not set or too small";
    const reason = spendable.prepaid > 0n ? `the prepaid balance leaves too little, and ${cap}` : cap;
    return { code: "insufficient_allowance", funds, reason };
  }
  if (spendable.balance < needed) return { code: "payment_failed", funds, reason: "there is not enough USDC" };
  if (spendable.amount < needed) return { code: "payment_failed", funds, reason: "the token lets nothing be taken" };
  return ok;
}

// The most that all rows which a payer waits for may come to.
function payableOf({ amount, prepaid, dailyCapLeft }: Spendable): bigint {
  return larger(amount, smaller(prepaid, dailyCapLeft));
}

function fundsOf(spendable: Spendable, exposure: Exposure | undefined): PreflightFunds {
  const pending = exposure?.pending ?? microUsdc(0n);
  const held = exposure?.held ?? microUsdc(0n);
  const available = payableOf(spendable) - pending - held;
  const { balance, allowance, dailyCapLeft, prepaid, consentRequired } = spendable;
  return {
    available: microUsdc(available > 0n ? available : 0n),
    ...{ balance, allowance, dailyCapLeft, prepaid, consentRequired },
    pending,
    held,
    debt: exposure?.debt ?? microUsdc(0n),
  };
}
