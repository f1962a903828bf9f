import type { Address, Hex } from "viem";
import { NO_HASH } from "../domain/charges/charge.ts";
import { SettlementError } from "../domain/errors.ts";
import { MAX_AMOUNT } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import { isStorable } from "./database/storable.ts";

// What a verb is given is checked before it joins the others in a transaction: inside, nothing about one call may fail. Nearly all of it
// is in lower case already, and is then returned as it is.

const ADDRESS_PATTERN = /^0x[0-9a-f]{40}$/;
const HASH_PATTERN = /^0x[0-9a-f]{64}$/;
const TOOL_ID_PATTERN = /^0x[0-9a-f]{32}$/;
const BYTES_PATTERN = /^0x[0-9a-f]*$/;
// Long enough for a UUID with a prefix and a suffix; short enough for an index.
const MAX_NAME_LENGTH = 200;

export function lower<T extends string>(value: T): T {
  return value.toLowerCase() as T;
}

export function validAddress(name: string, value: Address): Address {
  if (ADDRESS_PATTERN.test(value)) return value;
  const address = lower(value);
  return ADDRESS_PATTERN.test(address) ? address : invalid(`${name} is ${quoted(value)}, which is no address`);
}

export function validHash(name: string, value: Hex): Hex {
  if (value === NO_HASH || HASH_PATTERN.test(value)) return value;
  const hash = lower(value);
  return HASH_PATTERN.test(hash) ? hash : invalid(`${name} is ${quoted(value)}; a hash has 32 bytes`);
}

export function validBytes(name: string, value: Hex): Hex {
  const bytes = lower(value);
  return BYTES_PATTERN.test(bytes) ? bytes : invalid(`${name} is ${quoted(value)}; bytes are written 0x…`);
}

export function validToolId(value: ToolId): ToolId {
  if (TOOL_ID_PATTERN.test(value)) return value;
  const toolId = lower(value);
  return TOOL_ID_PATTERN.test(toolId) ? toolId : invalid(`${quoted(value)} is no tool id; one has 16 bytes`);
}

export function validName(name: string, value: string): string {
  if (value.length === 0 || value.length > MAX_NAME_LENGTH) {
    return invalid(`${name} has ${value.length} characters; it needs 1 to ${MAX_NAME_LENGTH}`);
  }
  return validText(name, value);
}

export function validText(name: string, value: string): string {
  return isStorable(value)
    ? value
    : invalid(`${name} is ${quoted(value)}; it must have no zero character and no half of a surrogate pair`);
}

export function validAmount<T extends bigint>(name: string, value: T): T {
  return value >= 0n && value <= MAX_AMOUNT
    ? value
    : invalid(`${name} is ${value}; it must be from 0 to ${MAX_AMOUNT}`);
}

export function validTime(name: string, value: number): number {
  return Number.isSafeInteger(value) ? value : invalid(`${name} is ${value}; a time is in whole milliseconds`);
}

export function validCount(name: string, value: number): number {
  return Number.isSafeInteger(value) && value >= 0 ? value : invalid(`${name} is ${value}; it must be a whole number`);
}

export function invalid(problem: string): never {
  throw new SettlementError("invalid_input", problem);
}

// JSON shows what cannot be seen, such as a zero character.
function quoted(value: string): string {
  return JSON.stringify(value.length > MAX_NAME_LENGTH ? `${value.slice(0, MAX_NAME_LENGTH)}…` : value);
}
