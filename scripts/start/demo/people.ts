import { parseUsd } from "../../../settlement/domain/money.ts";

// Who is on the local chain. Each is an account of the node, by its position, and the node signs for all of them; the
// first ten are those of the deployer's page.
export const PARTIES = {
  deployer: 0,
  admin: 1,
  treasury: 2,
  insurance: 3,
  guardian: 5,
  adjudicator: 6,
  tokenOwner: 9,
} as const;

export const ACCOUNTS = 24;

// A tool's price is for one Query turn; its methods are called in Execute sessions for about a hundredth of it.
export const TOOLS = [
  tool("flight-prices", "Ada Okafor", 10, "0.10", ["search", "0.001"]),
  tool("company-filings", "Ben Lindqvist", 11, "0.15", ["fetch", "0.0015"]),
  tool("dex-liquidity", "Carla Moreno", 12, "0.05", ["quote", "0.0005"]),
  tool("weather-grid", "Daichi Tanaka", 13, "0.02", ["forecast", "0.0002"]),
  tool("court-records", "Elif Demir", 14, "0.25", ["lookup", "0.0025"]),
] as const;

export const PAYERS = [
  payer("Northwind Research", 15),
  payer("Lumen Travel", 16),
  payer("Juno Labs", 17),
  payer("Harbor Analytics", 18),
  // It limits on chain what may be taken from it in 24 hours.
  payer("Atlas Desk", 19, parseUsd("20")),
  payer("Pico Bots", 20),
] as const;

// Those whose luck changes now and then: a payer who takes its allowance back, and a tool whose developer asks for a part
// of the stake.
export const FICKLE_PAYER = "Pico Bots";
export const FICKLE_TOOL = "court-records";

export const FUNDS = {
  payerBalance: parseUsd("250"),
  payerAllowance: parseUsd("1000"),
  insuranceBalance: parseUsd("500"),
  operatorLimit: parseUsd("1000000"),
} as const;

function tool(
  name: string,
  developer: string,
  account: number,
  priceUsd: string,
  [method, methodUsd]: [string, string],
) {
  return { name, developer, account, price: parseUsd(priceUsd), priceUsd, method, methodUsd };
}

function payer(name: string, account: number, dailyCap = parseUsd("0")) {
  return { name, account, dailyCap };
}
