import { type Address, bytesToHex, type Hex } from "viem";
import type { DueCharge } from "../../domain/charges/charge.ts";
import { keccak256 } from "./keccak.ts";

const WORD_BYTES = 32;
const WORDS = 13;

// Where a receipt is good: the same charge under another router, or under one of the same address on another chain, is
// another receipt.
export type ReceiptDomain = { chainId: number; router: Address };

// A receipt is what the platform commits to for one charge: where it is settled, who owes it, who is charged, for what,
// how much, and hashes of what was asked and answered. As Solidity would write it:
//   abi.encode(uint256 chainId, address router, bytes32 chargeId, address payer, address chargedTo, bytes16 toolId,
//              uint256 amount, uint256 calls, uint256 accruedAtMs, uint256 attempts, bytes32 request, bytes32 response,
//              bytes32 schema)
// The model's charge has the tool id zero. All fields have a fixed size, so they are written down word by word.
export function encodeReceipt(domain: ReceiptDomain, charge: DueCharge): Hex {
  return bytesToHex(receiptBytes(domain, charge));
}

const LOW_BITS = 2 ** 32;

// One receipt is written at a time, and hashed or copied before the next one. Most words are those of the receipt before it, of the
// same batch, and stay.
const words = Buffer.alloc(WORDS * WORD_BYTES);
const written: unknown[] = Array.from({ length: WORDS });

function receiptBytes({ chainId, router }: ReceiptDomain, charge: DueCharge): Uint8Array {
  const { for: subject, hashes } = charge;
  const isTool = subject.kind === "tool";
  if (written[0] !== chainId) writeWhole(0, chainId);
  if (written[1] !== router) writeAddress(1, router);
  words.write(charge.id.slice(2), 2 * WORD_BYTES, "hex");
  if (written[3] !== charge.payer) writeAddress(3, charge.payer);
  if (written[4] !== charge.chargedTo) writeAddress(4, charge.chargedTo);
  const toolId = isTool ? subject.toolId : NO_TOOL;
  if (written[5] !== toolId) writeToolId(5, toolId);
  if (written[6] !== charge.amount) writeAmount(6, charge.amount);
  const calls = isTool ? subject.calls : 0;
  if (written[7] !== calls) writeWhole(7, calls);
  if (written[8] !== charge.accruedAtMs) writeWhole(8, charge.accruedAtMs);
  if (written[9] !== charge.attempts) writeWhole(9, charge.attempts);
  if (written[10] !== hashes.request) writeHash(10, hashes.request);
  if (written[11] !== hashes.response) writeHash(11, hashes.response);
  if (written[12] !== hashes.schema) writeHash(12, hashes.schema);
  return words;
}

function writeHash(word: number, value: Hex): void {
  note(word, value, () => words.write(value.slice(2), word * WORD_BYTES, "hex"));
}

// The bytes after it stay zero.
function writeToolId(word: number, value: Hex): void {
  note(word, value, () => words.write(value.slice(2), word * WORD_BYTES, "hex"));
}

// The bytes before it stay zero.
function writeAddress(word: number, value: Address): void {
  note(word, value, () => words.write(value.slice(2), word * WORD_BYTES + 12, "hex"));
}

// A safe integer: the bytes before its eight stay zero.
function writeWhole(word: number, value: number): void {
  const end = (word + 1) * WORD_BYTES;
  note(word, value, () => {
    words.writeUInt32BE(Math.floor(value / LOW_BITS), end - 8);
    words.writeUInt32BE(value % LOW_BITS, end - 4);
  });
}

// What is above eight bytes the ledger could not keep, and whoever proves it says so.
function writeAmount(word: number, value: bigint): void {
  note(word, value, () => words.writeBigUInt64BE(value, (word + 1) * WORD_BYTES - 8));
}

// A word that could not be written is not taken for written by the next receipt.
function note(word: number, value: unknown, write: () => void): void {
  written[word] = undefined;
  write();
  written[word] = value;
}

// The same fields by name, as ICharges.Receipt has them. Chain and router, which come before them, the court knows.
export type Receipt = {
  chargeId: Hex;
  payer: Address;
  chargedTo: Address;
  toolId: Hex;
  amount: bigint;
  calls: bigint;
  accruedAtMs: bigint;
  attempts: bigint;
  request: Hex;
  response: Hex;
  schema: Hex;
};

// What the model has in place of a tool.
export const NO_TOOL: Hex = `0x${"0".repeat(32)}`;

export function receiptOf(charge: DueCharge): Receipt {
  const { for: subject, hashes } = charge;
  return {
    chargeId: charge.id,
    payer: charge.payer,
    chargedTo: charge.chargedTo,
    toolId: subject.kind === "tool" ? subject.toolId : NO_TOOL,
    amount: charge.amount,
    calls: subject.kind === "tool" ? BigInt(subject.calls) : 0n,
    accruedAtMs: BigInt(charge.accruedAtMs),
    attempts: BigInt(charge.attempts),
    ...hashes,
  };
}

// Hashed twice, as is usual for leaves: no inner node of the tree can then pass for a receipt.
export function leafOf(domain: ReceiptDomain, charge: DueCharge): Uint8Array {
  return keccak256(keccak256(receiptBytes(domain, charge)));
}
