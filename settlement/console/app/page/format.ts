// Money arrives as exact decimal text and stays text: digits are only grouped.
export function usd(text: string): string {
  const [dollars = "0", fraction = "00"] = text.split(".");
  return `$${grouped(dollars)}.${fraction}`;
}

// The first decimals of an exact amount, never rounded up: nobody has more than is shown.
export function decimals(text: string, most: number): string {
  const [whole = "0", fraction = ""] = text.split(".");
  const shown = fraction.slice(0, most).replace(/0+$/, "");
  return grouped(whole) + (shown && `.${shown}`);
}

export const count = (value: number | string) => grouped(`${value}`);

const grouped = (digits: string) => digits.replaceAll(/\B(?=(\d{3})+$)/g, ",");

// For drawing and for comparing sizes only.
export const size = (text: string) => Number(text);

export const short = (hex: string) => (hex.length > 14 ? `${hex.slice(0, 6)}…${hex.slice(-4)}` : hex);

export const shortUuid = (uuid: string) => `${uuid.slice(0, 6)}…${uuid.slice(-4)}`;

export const gasPerCall = (gasUsed: string | null, charges: number) =>
  gasUsed === null || charges === 0 ? "–" : count(Math.round(Number(gasUsed) / charges));

export function time(iso: string): string {
  const date = new Date(iso);
  const isToday = date.toDateString() === new Date().toDateString();
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return isToday ? clock : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

export function minute(iso: string): string {
  const date = new Date(iso);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

const two = (value: number) => `${value}`.padStart(2, "0");

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

// The largest unit that fits, with one decimal while the number is small.
export function duration(ms: number): string {
  for (const [unit, name] of UNITS) {
    if (ms >= unit) return `${ms / unit >= 10 ? Math.round(ms / unit) : Number((ms / unit).toFixed(1))} ${name}`;
  }
  return ms === 0 ? "0 s" : `${Math.round(ms)} ms`;
}

export function ago(iso: string): string {
  const ms = Date.now() - Date.parse(iso);
  return ms < 1_000 ? "now" : `${duration(Math.floor(ms / 1_000) * 1_000)} ago`;
}

export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
