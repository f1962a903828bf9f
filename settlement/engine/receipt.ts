import { SimpleMerkleTree } from "@openzeppelin/merkle-tree";
import { type Address, type Hex, keccak256 } from "viem";
import type { DueCharge } from "../domain/charge.ts";

const WORD_BYTES = 32;

// A receipt is what the platform commits to for one charge: who owes it, who is charged, for what, how much, and hashes
// of what was asked and answered. As Solidity would write it:
//   abi.encode(bytes32 chargeId, address payer, address chargedTo, bytes16 toolId, uint256 amount, uint256 calls,
//              uint256 accruedAtMs, uint256 attempts, bytes32 request, bytes32 response, bytes32 schema)
// The model's charge has the tool id zero. All fields have a fixed size, so they are written down word by word.
export function encodeReceipt(charge: DueCharge): Hex {
  const { for: subject, hashes } = charge;
  const words = [
    charge.id,
    addressWord(charge.payer),
    addressWord(charge.chargedTo),
    subject.kind === "tool" ? subject.toolId.padEnd(2 + 2 * WORD_BYTES, "0") : numberWord(0),
    numberWord(charge.amount),
    numberWord(subject.kind === "tool" ? subject.calls : 0),
    numberWord(charge.accruedAtMs),
    numberWord(charge.attempts),
    hashes.request,
    hashes.response,
    hashes.schema,
  ];
  return `0x${words.map((word) => word.slice(2)).join("")}`;
}

// Hashed twice, as is usual for leaves: no inner node of the tree can then pass for a receipt.
export function leafOf(charge: DueCharge): Hex {
  return keccak256(keccak256(encodeReceipt(charge)));
}

export function receiptsTree(leaves: readonly Hex[]): SimpleMerkleTree {
  return SimpleMerkleTree.of([...leaves]);
}

const addressWord = (address: Address): Hex =>
  `0x${address
    .slice(2)
    .toLowerCase()
    .padStart(2 * WORD_BYTES, "0")}`;

const numberWord = (value: number | bigint): Hex => `0x${value.toString(16).padStart(2 * WORD_BYTES, "0")}`;
