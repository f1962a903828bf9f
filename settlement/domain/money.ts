// Money is a whole number of micro-USDC, the token's own unit. The brand keeps other bigints out, and `number` never
// appears: a float cannot hold every amount.
export type MicroUsdc = bigint & { readonly __brand: "MicroUsdc" };

export class InvalidAmountError extends Error {
  override readonly name = "InvalidAmountError";

  constructor(
    readonly text: string,
    problem: string,
  ) {
    super(`"${text}" is not an amount: ${problem}. Write US dollars as 25 or 25.50, with at most 6 decimals`);
  }
}

const DECIMALS = 6;
const UNITS_PER_USD = 10n ** BigInt(DECIMALS);
const SHOWN_DECIMALS = 2;

export function parseUsd(text: string): MicroUsdc {
  const match = /^([0-9]+)(?:\.([0-9]+))?$/.exec(text);
  const [, whole, fraction = ""] = match ?? [];
  if (whole === undefined) throw new InvalidAmountError(text, problemOf(text));
  if (fraction.length > DECIMALS) {
    throw new InvalidAmountError(text, `it has ${fraction.length} decimals, and USDC has ${DECIMALS}`);
  }
  return microUsdc(BigInt(whole) * UNITS_PER_USD + BigInt(fraction.padEnd(DECIMALS, "0")));
}

export function formatUsd(amount: MicroUsdc): string {
  const fraction = (amount % UNITS_PER_USD).toString().padStart(DECIMALS, "0");
  const cents = fraction.slice(0, SHOWN_DECIMALS);
  const rest = fraction.slice(SHOWN_DECIMALS).replace(/0+$/, "");
  return `${amount / UNITS_PER_USD}.${cents}${rest}`;
}

export function microUsdc(value: bigint): MicroUsdc {
  if (value < 0n) throw new InvalidAmountError(value.toString(), "it is negative");
  return value as MicroUsdc;
}

function problemOf(text: string): string {
  if (text === "") return "it is empty";
  if (/\s/.test(text)) return "it contains a space";
  if (/^[+-]/.test(text)) return "it has a sign";
  if (/^[0-9.]+e[+-]?[0-9]+$/i.test(text)) return "it has an exponent";
  if (text.includes(",")) return "it contains a comma";
  return "it is not a decimal number";
}
