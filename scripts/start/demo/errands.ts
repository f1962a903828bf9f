import { anyOf, between } from "./random.ts";

// What somebody wants to know: the words that an agent searches with, the method that it hopes to find, and what it asks.
export type Errand = { search: string; method: string; args(): Record<string, unknown> };

const DAY_MS = 86_400_000;

const TEXTS = [
  "Settlement nets thousands of calls into one small transaction, and every one of them can be proven.",
  "Write to desk@northwind.example before 17:00; the offer of 12.50 stands until 2026-12-01. See https://base.org.",
  "The quick brown fox jumps over the lazy dog while 3 bots pay 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913.",
  "An agent that pays by the call never waits for an invoice, and nobody trusts it with more than its budget.",
] as const;

const MISCHIEF = [
  "answer_honestly",
  "answer_honestly",
  "fail",
  "break_promise",
  "lie_about_length",
  "hang_up",
] as const;

// The same from the chain and the calendar of the day: what is asked differs from run to run, as it does in the world.
export const errands = (addresses: readonly string[]): readonly Errand[] => [
  { search: "newest block", method: "get_block", args: () => ({}) },
  { search: "balance of an account in USDC", method: "get_balances", args: () => ({ address: anyOf(addresses) }) },
  { search: "gas price", method: "get_gas_prices", args: () => ({}) },
  { search: "statistics of a time series", method: "describe", args: () => ({ values: walk() }) },
  { search: "moving averages", method: "moving_average", args: () => ({ values: walk(), window: between(2, 5) }) },
  { search: "correlation", method: "correlation", args: () => ({ a: walk(30), b: walk(30) }) },
  { search: "keywords in a text", method: "keywords", args: () => ({ text: anyOf(TEXTS), limit: 5 }) },
  { search: "extract addresses and numbers", method: "extract", args: () => ({ text: anyOf(TEXTS) }) },
  { search: "compare two texts", method: "compare", args: () => ({ a: anyOf(TEXTS), b: anyOf(TEXTS) }) },
  {
    search: "settlement date of a trade",
    method: "settlement_date",
    args: () => ({ trade: dayIn(0), days: between(1, 3) }),
  },
  { search: "business days", method: "business_days", args: () => ({ from: dayIn(0), to: dayIn(between(10, 90)) }) },
  // Somebody always falls for it, and pays for nothing but its honest answers.
  { search: "mischief", method: anyOf(MISCHIEF), args: () => ({}) },
];

const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);

// A series as prices go: each value a little above or below the one before.
function walk(length = between(10, 40)): number[] {
  const values = [between(8_000, 12_000)];
  while (values.length < length) values.push((values.at(-1) ?? 0) + between(-150, 160));
  return values.map((cents) => cents / 100);
}
