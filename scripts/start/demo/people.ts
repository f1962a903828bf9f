import { LISTINGS } from "../../../examples/startExamples.ts";
import { parseUsd } from "../../../settlement/domain/money.ts";

// Who is on the local chain beside its parties. Each is an account of the node, by its position, and the node signs for all of
// them; the first ten are those of the deployer's page.
export const ACCOUNTS = 24;

export const TOOLS = [
  tool("chain", "Ada Okafor", 10),
  tool("series", "Ben Lindqvist", 11),
  tool("text", "Carla Moreno", 12),
  tool("dates", "Daichi Tanaka", 13),
  tool("mischief", "Elif Demir", 14),
] as const;

export const PAYERS = [
  payer("Northwind Research", 15),
  payer("Lumen Travel", 16),
  payer("Juno Labs", 17),
  payer("Harbor Analytics", 18),
  // It limits on chain what may be taken from it in 24 hours.
  payer("Atlas Desk", 19, parseUsd("20")),
  payer("Pico Bots", 20),
  // Whoever has started all of this, and buys a call themselves.
  payer("You", 21),
] as const;

export const YOU = "You";

// Those whose luck changes now and then: a payer who takes its allowance back, and a tool whose developer asks for a part
// of the stake.
export const FICKLE_PAYER = "Pico Bots";
export const FICKLE_TOOL = "dates";
// The one whose developer answers for what it says.
export const SIGNING_TOOL = "dates";

export const FUNDS = {
  payerBalance: parseUsd("250"),
  payerAllowance: parseUsd("1000"),
  insuranceBalance: parseUsd("500"),
  operatorLimit: parseUsd("1000000"),
} as const;

function tool(example: keyof typeof LISTINGS, developer: string, account: number) {
  const { name, price } = LISTINGS[example];
  return { example, name, developer, account, price: parseUsd(price) };
}

function payer(name: string, account: number, dailyCap = parseUsd("0")) {
  return { name, account, dailyCap };
}
