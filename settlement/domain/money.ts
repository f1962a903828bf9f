import { SettlementError } from "./errors.ts";

// All money is a whole number of millionths of a US dollar, as the token counts it. It is never a `number`.
export type MicroUsdc = bigint & { readonly __brand: "MicroUsdc" };

const DECIMALS = 6;
const USD_PATTERN = /^(0|[1-9]\d*)(?:\.(\d+))?$/;

// The largest amount that a row of a batch has room for: some 281 million dollars.
export const MAX_AMOUNT = (2n ** 48n - 1n) as MicroUsdc;

export class InvalidAmountError extends SettlementError {
  override readonly name = "InvalidAmountError";

  constructor(message: string) {
    super("invalid_amount", message);
  }
}

export function microUsdc(value: bigint): MicroUsdc {
  if (value < 0n) throw new InvalidAmountError(`${value} micro-USDC is negative; an amount is zero or more`);
  return value as MicroUsdc;
}

// Reads a decimal number of dollars such as "25", "0.10" or "0.000001", exactly or not at all.
export function parseUsd(text: string): MicroUsdc {
  const [, dollars, fraction = ""] = USD_PATTERN.exec(text) ?? [];
  if (dollars === undefined) {
    throw new InvalidAmountError(
      `"${text}" is not an amount; write dollars with digits and one point, like 25 or 0.10`,
    );
  }
  if (fraction.length > DECIMALS) {
    throw new InvalidAmountError(`"${text}" has ${fraction.length} decimals; USDC has ${DECIMALS}`);
  }
  const amount = BigInt(dollars + fraction.padEnd(DECIMALS, "0"));
  if (amount > MAX_AMOUNT) {
    throw new InvalidAmountError(`"${text}" is more than the largest amount, ${formatUsd(MAX_AMOUNT)}`);
  }
  return amount as MicroUsdc;
}

// Prints dollars with at least two decimals and as many more as the amount needs.
export function formatUsd(amount: MicroUsdc): string {
  const digits = amount.toString().padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0{1,4}$/, "");
  return `${digits.slice(0, -DECIMALS)}.${fraction}`;
}

export function sumOf(amounts: Iterable<MicroUsdc>): MicroUsdc {
  let total = 0n;
  for (const amount of amounts) total += amount;
  return total as MicroUsdc;
}

export const smaller = (a: bigint, b: bigint) => (a < b ? a : b);
export const larger = (a: bigint, b: bigint) => (a > b ? a : b);
