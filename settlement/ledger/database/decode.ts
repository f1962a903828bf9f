import type { Address, Hex } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import type { Row } from "./sql.ts";

// From columns to values. A column of another type than the schema says means that the ledger is damaged.

export function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : damaged(column, value);
}

export function integer(row: Row, column: string): bigint {
  const value = row[column];
  return typeof value === "bigint" ? value : damaged(column, value);
}

export function count(row: Row, column: string): number {
  const value = Number(integer(row, column));
  return Number.isSafeInteger(value) ? value : damaged(column, value);
}

export function amount(row: Row, column = "amount"): MicroUsdc {
  return microUsdc(integer(row, column));
}

export function hex(row: Row, column: string): Hex {
  return text(row, column) as Hex;
}

export function address(row: Row, column: string): Address {
  return text(row, column) as Address;
}

// A budget's id has more bits than the column type for numbers.
export function budgetId(row: Row, column = "budget_id"): bigint | null {
  return row[column] === null ? null : BigInt(text(row, column));
}

export function damaged(column: string, value: unknown): never {
  throw new SettlementError(
    "ledger_corrupt",
    `the ledger has ${String(value)} in column ${column}, where it cannot be`,
  );
}
