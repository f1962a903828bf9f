import type { Address } from "viem";
import { microUsdc } from "../../domain/money.ts";
import type { Spendable } from "../chain.ts";

// A payer with `amount` in the wallet, all of which may be taken, and nothing else but what a test says.
export function spendableOf(payer: Address, amount: bigint, fields: Partial<Spendable> = {}): Spendable {
  return {
    payer,
    atBlock: 0n,
    timestamp: 0n,
    amount: microUsdc(amount),
    balance: microUsdc(amount),
    allowance: amount,
    dailyCapLeft: 2n ** 256n - 1n,
    prepaid: microUsdc(0n),
    consentRequired: false,
    budgets: new Map(),
    ...fields,
  };
}
