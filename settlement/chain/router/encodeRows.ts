import { type Address, type Hex, isAddress, size } from "viem";
import type { BatchLine, BatchRow, RowBudget } from "../../domain/batch/batch.ts";
import { MAX_AMOUNT } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";

const FLAG = { prepaid: 1, budget: 2, signed: 4, tools: 8 } as const;

const ADDRESS_BYTES = 20;
const AMOUNT_BYTES = 6;
const BUDGET_ID_BYTES = 8;
const TOOL_ID_BYTES = 16;
const TIME_BYTES = 5;
const LENGTH_BYTES = 2;

export const LINE_BYTES = AMOUNT_BYTES + 1;

// How long a row is without its lines.
export function bytesOfRow(budget?: RowBudget): number {
  const own = ADDRESS_BYTES + 1 + AMOUNT_BYTES + 1;
  if (budget === undefined) return own;
  const { tools, signed } = budget;
  return (
    own +
    BUDGET_ID_BYTES +
    (tools === undefined ? 0 : 1 + TOOL_ID_BYTES * tools.length) +
    (signed === undefined ? 0 : AMOUNT_BYTES + TIME_BYTES + LENGTH_BYTES + size(signed.signature))
  );
}

// The packed rows that `ContextRouter.settle` reads; IContextRouter.sol describes them.
export function encodeRows(rows: readonly BatchRow[]): Hex {
  return `0x${rows.map(encodeRow).join("")}`;
}

function encodeRow({ payer, modelCost, lines, prepaid = false, budget }: BatchRow): string {
  if (!isAddress(payer, { strict: false })) throw new RangeError(`payer ${payer} is not an address`);
  const flags = (prepaid ? FLAG.prepaid : 0) + (budget === undefined ? 0 : flagsOf(budget));
  return [
    payer.slice(2).toLowerCase(),
    encodeNumber("flags", flags, 1),
    encodeAmount("modelCost", modelCost),
    encodeNumber("line count", lines.length, 1),
    budget === undefined ? "" : encodeBudget(budget),
    ...lines.map(encodeLine),
  ].join("");
}

function flagsOf({ tools, signed }: RowBudget): number {
  return FLAG.budget + (tools === undefined ? 0 : FLAG.tools) + (signed === undefined ? 0 : FLAG.signed);
}

function encodeBudget({ id, tools, signed }: RowBudget): string {
  const parts = [encodeNumber("budget", id, BUDGET_ID_BYTES)];
  if (tools !== undefined) {
    parts.push(encodeNumber("number of tools", tools.length, 1), ...tools.map((tool) => tool.slice(2)));
  }
  if (signed !== undefined) {
    const { maxSpend, validUntil, signature } = signed;
    parts.push(encodeAmount("maxSpend", maxSpend), encodeNumber("validUntil", validUntil, TIME_BYTES));
    parts.push(encodeNumber("length of the signature", size(signature), LENGTH_BYTES), signature.slice(2));
  }
  return parts.join("");
}

function encodeLine({ toolIndex, amount }: BatchLine): string {
  return encodeAmount("amount", amount) + encodeNumber("toolIndex", toolIndex, 1);
}

function encodeNumber(name: string, value: number | bigint, bytes: number): string {
  const max = 2n ** BigInt(8 * bytes) - 1n;
  if ((typeof value === "number" && !Number.isInteger(value)) || value < 0 || value > max) {
    throw new RangeError(`${name} is ${value}; a row has room for 0 to ${max}`);
  }
  return value.toString(16).padStart(2 * bytes, "0");
}

function encodeAmount(name: string, value: bigint): string {
  if (value < 0n || value > MAX_AMOUNT) {
    throw new RangeError(`${name} is ${value} micro-USDC; a row has room for 0 to ${MAX_AMOUNT}`);
  }
  return encodeNumber(name, value, AMOUNT_BYTES);
}

// The inverse, for whoever compares calldata with what came of it.
export function decodeRows(packed: Hex): BatchRow[] {
  let cursor = 2;
  const take = (bytes: number): Hex => {
    const end = cursor + 2 * bytes;
    if (end > packed.length) throw new RangeError(`the rows end after ${packed.length} digits, in the middle of a row`);
    const text: Hex = `0x${packed.slice(cursor, end)}`;
    cursor = end;
    return text;
  };
  const takeNumber = (bytes: number) => BigInt(take(bytes));
  const takeByte = () => Number(takeNumber(1));

  const takeBudget = (flags: number): RowBudget => {
    const id = takeNumber(BUDGET_ID_BYTES);
    const tools =
      flags & FLAG.tools ? Array.from({ length: takeByte() }, () => take(TOOL_ID_BYTES) as ToolId) : undefined;
    if (!(flags & FLAG.signed)) return { id, ...(tools && { tools }) };
    const [maxSpend, validUntil] = [takeNumber(AMOUNT_BYTES), takeNumber(TIME_BYTES)];
    const signature = take(Number(takeNumber(LENGTH_BYTES)));
    return { id, ...(tools && { tools }), signed: { maxSpend, validUntil, signature } };
  };

  const rows: BatchRow[] = [];
  while (cursor < packed.length) {
    const payer: Address = take(ADDRESS_BYTES);
    const flags = takeByte();
    const modelCost = takeNumber(AMOUNT_BYTES);
    const lineCount = takeByte();
    const budget = flags & FLAG.budget ? takeBudget(flags) : undefined;
    const lines = Array.from({ length: lineCount }, () => {
      const amount = takeNumber(AMOUNT_BYTES);
      return { toolIndex: takeByte(), amount };
    });
    const prepaid = (flags & FLAG.prepaid) !== 0;
    rows.push({ payer, modelCost, lines, ...(prepaid && { prepaid }), ...(budget && { budget }) });
  }
  return rows;
}
