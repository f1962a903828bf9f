import { type Address, bytesToHex, type Hex } from "viem";
import type { DueCharge } from "../../domain/charge.ts";
import { letOthersRun } from "../../domain/letOthersRun.ts";
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

function receiptBytes({ chainId, router }: ReceiptDomain, charge: DueCharge): Uint8Array {
  const { for: subject, hashes } = charge;
  const words = Buffer.alloc(WORDS * WORD_BYTES);
  let at = 0;
  const bytes = (value: Hex) => {
    words.write(value.slice(2), at, "hex");
    at += WORD_BYTES;
  };
  const number = (value: number | bigint) => {
    const digits = value.toString(16);
    const even = digits.length % 2 === 0 ? digits : `0${digits}`;
    words.write(even, at + WORD_BYTES - even.length / 2, "hex");
    at += WORD_BYTES;
  };
  const address = (value: Hex) => {
    words.write(value.slice(2), at + 12, "hex");
    at += WORD_BYTES;
  };
  number(chainId);
  address(router);
  bytes(charge.id);
  address(charge.payer);
  address(charge.chargedTo);
  if (subject.kind === "tool") bytes(subject.toolId);
  else number(0);
  number(charge.amount);
  number(subject.kind === "tool" ? subject.calls : 0);
  number(charge.accruedAtMs);
  number(charge.attempts);
  bytes(hashes.request);
  bytes(hashes.response);
  bytes(hashes.schema);
  return words;
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
  const known = prepared.get(charge);
  return known?.domain === domain ? known.leaf : keccak256(keccak256(receiptBytes(domain, charge)));
}

// Leaves that were made in advance. They are forgotten with their charges.
const prepared = new WeakMap<DueCharge, { domain: ReceiptDomain; leaf: Uint8Array }>();
const LEAVES_AT_ONCE = 500;

// Makes the leaves of many charges in steps, so that nobody waits for all of them. `leafOf` has them afterwards.
export async function prepareLeaves(domain: ReceiptDomain, charges: readonly DueCharge[]): Promise<void> {
  for (const [i, charge] of charges.entries()) {
    if (i > 0 && i % LEAVES_AT_ONCE === 0) await letOthersRun();
    prepared.set(charge, { domain, leaf: leafOf(domain, charge) });
  }
}
