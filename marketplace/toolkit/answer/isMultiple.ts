type Decimal = { digits: bigint; exponent: number };

// Whether a number is a whole multiple of another, as their texts say: both are the decimals that JSON writes them as, and
// not the doubles that stand for these.
export function isMultiple(number: number, divisor: number): boolean {
  const [one, other] = [decimalOf(number), decimalOf(divisor)];
  const exponent = Math.min(one.exponent, other.exponent);
  return unitsOf(one, exponent) % unitsOf(other, exponent) === 0n;
}

const unitsOf = ({ digits, exponent }: Decimal, unit: number) => digits * 10n ** BigInt(exponent - unit);

function decimalOf(number: number): Decimal {
  const [mantissa = "0", power = "0"] = String(number).split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}
