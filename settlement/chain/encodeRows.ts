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
