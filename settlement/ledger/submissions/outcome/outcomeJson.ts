import type { BatchOutcome } from "../../../domain/batch/batch.ts";

// Outcomes are kept as JSON with amounts as strings of digits.
const AMOUNTS = new Set(["charged", "treasuryShare", "amount", "developerShare"]);

export function outcomeToJson(outcome: BatchOutcome): string {
  return JSON.stringify(outcome, (_, value) => (typeof value === "bigint" ? value.toString() : value));
}

export function outcomeFromJson(json: string): BatchOutcome {
  return JSON.parse(json, (key, value) => (AMOUNTS.has(key) ? BigInt(value) : value)) as BatchOutcome;
}
