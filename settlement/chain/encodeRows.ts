import { type Address, type Hex, isAddress } from "viem";

export type RowLine = { toolIndex: number; amount: bigint };

export type Row = { payer: Address; modelCost: bigint; lines: readonly RowLine[] };

const MAX_AMOUNT = 2n ** 48n - 1n;
const MAX_BYTE = 255;

// The packed rows that `ContextRouter.settle` reads; IContextRouter.sol describes them.
export function encodeRows(rows: readonly Row[]): Hex {
  return `0x${rows.map(encodeRow).join("")}`;
}

function encodeRow({ payer, modelCost, lines }: Row): string {
  if (!isAddress(payer, { strict: false })) throw new RangeError(`payer ${payer} is not an address`);
  const head =
    payer.slice(2).toLowerCase() + encodeAmount("modelCost", modelCost) + encodeByte("line count", lines.length);
  return head + lines.map(encodeLine).join("");
}

function encodeLine({ toolIndex, amount }: RowLine): string {
  return encodeByte("toolIndex", toolIndex) + encodeAmount("amount", amount);
}

function encodeByte(name: string, value: number): string {
  if (!Number.isInteger(value) || value < 0 || value > MAX_BYTE) {
    throw new RangeError(`${name} is ${value}; a row has room for 0 to ${MAX_BYTE}`);
  }
  return value.toString(16).padStart(2, "0");
}

function encodeAmount(name: string, value: bigint): string {
  if (value < 0n || value > MAX_AMOUNT) {
    throw new RangeError(`${name} is ${value} micro-USDC; a row has room for 0 to ${MAX_AMOUNT}`);
  }
  return value.toString(16).padStart(12, "0");
}

const ADDRESS_DIGITS = 40;
const AMOUNT_DIGITS = 12;
const BYTE_DIGITS = 2;

// The inverse, for whoever compares calldata with what came of it.
export function decodeRows(packed: Hex): Row[] {
  let cursor = 2;
  const take = (digits: number) => {
    const end = cursor + digits;
    if (end > packed.length) throw new RangeError(`the rows end after ${packed.length} digits, in the middle of a row`);
    const text = packed.slice(cursor, end);
    cursor = end;
    return text;
  };
  const takeAmount = () => BigInt(`0x${take(AMOUNT_DIGITS)}`);
  const takeByte = () => Number.parseInt(take(BYTE_DIGITS), 16);

  const rows: Row[] = [];
  while (cursor < packed.length) {
    const payer: Address = `0x${take(ADDRESS_DIGITS)}`;
    const modelCost = takeAmount();
    const lines = Array.from({ length: takeByte() }, () => ({ toolIndex: takeByte(), amount: takeAmount() }));
    rows.push({ payer, modelCost, lines });
  }
  return rows;
}
