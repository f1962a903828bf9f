import { larger, type MicroUsdc, microUsdc, smaller } from "../money.ts";

// How much may be delivered to a payer before it is settled, beyond what prepaid money covers.
export type CreditPolicy = {
  // For a payer of whom nothing is known.
  base: MicroUsdc;
  // How much of what a payer has paid for good is added to that.
  growthBps: number;
  // However much that is.
  max: MicroUsdc;
};

// What decides about one more charge of a payer: what is pending and held, what the payer has paid so far, and its prepaid money.
export type Credit = { committed: bigint; settled: bigint; prepaid: bigint };

// Why a charge is not taken on credit.
export type CreditRefusal = { exposure: MicroUsdc; limit: MicroUsdc };

const ALL_BPS = 10_000n;

// Rounded down, in favour of whoever bears the risk.
export function creditLimitOf({ base, growthBps, max }: CreditPolicy, settled: bigint): MicroUsdc {
  return microUsdc(larger(base, smaller(max, base + (settled * BigInt(growthBps)) / ALL_BPS)));
}

// What of all that is owed and reserved no prepaid money covers. Prepaid money cannot be taken
// away before it is settled; held back it can be, by a daily cap that is set or consent that is demanded since.
export function exposureOf({ committed, prepaid }: Pick<Credit, "committed" | "prepaid">): MicroUsdc {
  return microUsdc(larger(committed - prepaid, 0n));
}

// Whether one more charge would be above the payer's limit. What costs nothing never is.
export function refuseCredit(policy: CreditPolicy, credit: Credit, amount: bigint): CreditRefusal | null {
  if (amount === 0n) return null;
  const exposure = exposureOf({ ...credit, committed: credit.committed + amount });
  const limit = creditLimitOf(policy, credit.settled);
  return exposure > limit ? { exposure, limit } : null;
}

// From here on what a payer owes is settled at once, and does not wait for company.
export function isHigh(policy: CreditPolicy, { exposure, settled }: { exposure: bigint; settled: bigint }): boolean {
  return 2n * exposure >= creditLimitOf(policy, settled);
}
