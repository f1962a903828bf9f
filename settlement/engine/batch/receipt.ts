import { type Address, bytesToHex, type Hex } from "viem";
import { type DueCharge, NO_HASH } from "../../domain/charge.ts";
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

// One receipt is written at a time, and hashed or copied before the next one. Chain and router are the same in all of them.
const words = Buffer.alloc(WORDS * WORD_BYTES);
let writtenFor: ReceiptDomain | null = null;

function receiptBytes(domain: ReceiptDomain, charge: DueCharge): Uint8Array {
  if (writtenFor !== domain) {
    writeWhole(0, domain.chainId);
    writeAddress(1, domain.router);
    writtenFor = domain;
  }
  const { for: subject, hashes } = charge;
  writeHash(2, charge.id);
  writeAddress(3, charge.payer);
  writeAddress(4, charge.chargedTo);
  writeHash(5, NO_HASH);
  if (subject.kind === "tool") words.write(subject.toolId.slice(2), 5 * WORD_BYTES, "hex");
  writeAmount(6, charge.amount);
  writeWhole(7, subject.kind === "tool" ? subject.calls : 0);
  writeWhole(8, charge.accruedAtMs);
  writeWhole(9, charge.attempts);
  writeHash(10, hashes.request);
  writeHash(11, hashes.response);
  writeHash(12, hashes.schema);
  return words;
}

// Most charges have no hashes of their own, and zeros are written faster than they are read from a text.
function writeHash(word: number, value: Hex): void {
  const at = word * WORD_BYTES;
  if (value === NO_HASH) words.fill(0, at, at + WORD_BYTES);
  else words.write(value.slice(2), at, "hex");
}

// The bytes before it stay zero.
function writeAddress(word: number, value: Address): void {
  words.write(value.slice(2), word * WORD_BYTES + 12, "hex");
}

// A safe integer: the bytes before its eight stay zero.
function writeWhole(word: number, value: number): void {
  const end = (word + 1) * WORD_BYTES;
  words.writeUInt32BE(Math.floor(value / LOW_BITS), end - 8);
  words.writeUInt32BE(value % LOW_BITS, end - 4);
}

// What is above eight bytes the ledger could not keep, and whoever proves it says so.
function writeAmount(word: number, value: bigint): void {
  words.writeBigUInt64BE(value, (word + 1) * WORD_BYTES - 8);
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
