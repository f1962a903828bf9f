const NUMBER = /-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?\s*%?/gi;
const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;
// Who rounds to fewer digits than this says something else.
const MAX_ERROR = 0.005;
const EXACT = 1e-12;

// Whether a text says a value, in whatever words: a number as it is, rounded or in percent, a day in any of the usual ways, of a list all
// that is in it.
export function says(text: string, value: unknown): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.every((one) => says(text, one));
  if (typeof value === "object") return Object.values(value as object).every((one) => says(text, one));
  if (typeof value === "number") return numbersIn(text).some((said) => isNear(said, value));
  const words = String(value);
  if (text.toLowerCase().includes(words.toLowerCase())) return true;
  if (ISO_DAY.test(words)) return waysToSay(words).some((way) => text.toLowerCase().includes(way.toLowerCase()));
  const number = Number(words);
  return words.trim() !== "" && Number.isFinite(number) && says(text, number);
}

type Said = { value: number; decimals: number };

function numbersIn(text: string): Said[] {
  return (text.match(NUMBER) ?? []).map((found) => {
    const digits = found.replace(/[,%\s]/g, "");
    const decimals = digits.split(".")[1]?.length ?? 0;
    return found.endsWith("%")
      ? { value: Number(digits) / 100, decimals: decimals + 2 }
      : { value: Number(digits), decimals };
  });
}

function isNear({ value, decimals }: Said, expected: number): boolean {
  const error = Math.abs(value - expected);
  if (error <= EXACT * Math.max(1, Math.abs(expected))) return true;
  return error <= Math.min(0.5 * 10 ** -decimals, MAX_ERROR * Math.abs(expected));
}

function waysToSay(day: string): string[] {
  const date = new Date(`${day}T00:00:00Z`);
  const number = date.getUTCDate();
  const year = date.getUTCFullYear();
  return (["long", "short"] as const).flatMap((length) => {
    const month = date.toLocaleString("en", { month: length, timeZone: "UTC" });
    return [`${number} ${month} ${year}`, `${month} ${number}, ${year}`, `${month} ${number} ${year}`];
  });
}
