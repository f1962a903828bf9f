import type { Address, Hex } from "viem";
import { SettlementError } from "../domain/errors.ts";
import { MAX_AMOUNT } from "../domain/money.ts";
import type { Capture } from "../domain/session.ts";
import type { ToolId } from "../domain/toolId.ts";
import { MAX_CALLS_PER_TURN, type Turn } from "../domain/turn.ts";

// What a verb is given is checked before it joins the others in a transaction: inside, nothing about one call may fail.

const ADDRESS_PATTERN = /^0x[0-9a-f]{40}$/;
const HASH_PATTERN = /^0x[0-9a-f]{64}$/;
const TOOL_ID_PATTERN = /^0x[0-9a-f]{32}$/;
// Long enough for a UUID with a prefix and a suffix; short enough for an index.
const MAX_NAME_LENGTH = 200;
// Both databases keep integers of 64 bits, and PostgreSQL keeps no text with a zero character.
const ZERO_CHARACTER = "\0";

export function lower<T extends Hex>(value: T): T {
  return value.toLowerCase() as T;
}

export function validAddress(name: string, value: Address): Address {
  const address = lower(value);
  return ADDRESS_PATTERN.test(address) ? address : invalid(`${name} is "${value}", which is no address`);
}

export function validHash(name: string, value: Hex): Hex {
  const hash = lower(value);
  return HASH_PATTERN.test(hash) ? hash : invalid(`${name} is "${value}"; a hash has 32 bytes`);
}

export function validToolId(value: ToolId): ToolId {
  const toolId = lower(value);
  return TOOL_ID_PATTERN.test(toolId) ? toolId : invalid(`"${value}" is no tool id; one has 16 bytes`);
}

export function validName(name: string, value: string): string {
  if (value.length > 0 && value.length <= MAX_NAME_LENGTH && !value.includes(ZERO_CHARACTER)) return value;
  return invalid(`${name} has ${value.length} characters; it needs 1 to ${MAX_NAME_LENGTH}, and no zero character`);
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

// The same turn in one spelling: lower case, tools in order.
export function validTurn(turn: Turn): Turn {
  validName("the turn's id", turn.id);
  const tools = turn.tools
    .map(({ toolId, amount, calls }) => ({
      toolId: validToolId(toolId),
      amount: validAmount("a tool's amount", amount),
      calls: validCount("a tool's number of calls", calls),
    }))
    .sort((a, b) => (a.toolId < b.toolId ? -1 : 1));
  if (new Set(tools.map(({ toolId }) => toolId)).size < tools.length) invalid(`turn ${turn.id} names a tool twice`);
  const calls = tools.reduce((sum, tool) => sum + tool.calls, 0);
  if (calls > MAX_CALLS_PER_TURN) invalid(`turn ${turn.id} has ${calls} calls; the most is ${MAX_CALLS_PER_TURN}`);
  return {
    id: turn.id,
    payer: validAddress("the payer", turn.payer),
    outcome: turn.outcome,
    modelCost: validAmount("the model cost", turn.modelCost),
    tools,
    requestHash: validHash("the request's hash", turn.requestHash),
    responseHash: validHash("the response's hash", turn.responseHash),
  };
}

export function validCapture({ callId, hashes }: Capture): Capture {
  return {
    callId: validName("the call's id", callId),
    hashes: {
      request: validHash("the request's hash", hashes.request),
      response: validHash("the response's hash", hashes.response),
      schema: validHash("the schema's hash", hashes.schema),
    },
  };
}

export function invalid(problem: string): never {
  throw new SettlementError("invalid_input", `${problem[0]?.toUpperCase()}${problem.slice(1)}.`);
}
