import { type Address, keccak256, numberToHex } from "viem";

// What a daemon is told to do, and what it says afterwards: how much of it there was.
export type Task =
  | { kind: "turns" | "calls"; callers: number; measuredMs: number }
  | { kind: "settle"; maxCharges: number };
export type Report = { done: number };

export const PAYERS = 1_000;
export const SESSIONS = 200;

// Addresses are hashes, so that whoever pays is somewhere else in every index.
const payers = Array.from({ length: PAYERS }, (_, n) => keccak256(numberToHex(n)).slice(0, 42) as Address);
export const payerOf = (n: number): Address => payers[n % PAYERS] as Address;
