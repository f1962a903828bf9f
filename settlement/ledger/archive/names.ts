import { hash } from "node:crypto";
import type { Hex } from "viem";
import type { Block } from "./format.ts";

// What is remembered of a name: 64 bits of a hash, as both databases keep a whole number.
export type Fingerprint = bigint;

const HASH = /^0x[0-9a-f]{64}$/;

const fingerprintOf = (digest: string): Fingerprint => BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`));

// Turns and calls are named by whoever reports them, with any text.
export const turnName = (turnId: string): Fingerprint => fingerprintOf(hash("sha256", `turn ${turnId}`));
export const callName = (callId: string): Fingerprint => fingerprintOf(hash("sha256", `call ${callId}`));
// Charges and batches are named by hashes already. Whatever else is asked for is nobody's name.
export const hashName = (id: Hex): Fingerprint => fingerprintOf(HASH.test(id) ? id.slice(2) : hash("sha256", id));

// A file has far fewer blocks than this.
const BLOCKS_PER_FILE = 1_000_000n;

export type Place = { archive: number; block: number };

export const placeOf = ({ archive, block }: Place): bigint => BigInt(archive) * BLOCKS_PER_FILE + BigInt(block);
export const fromPlace = (place: bigint): Place => ({
  archive: Number(place / BLOCKS_PER_FILE),
  block: Number(place % BLOCKS_PER_FILE),
});

// Everything in a block that somebody may ask for, or deliver again.
export function namesIn({ turns, holds, charges, batches }: Block): Fingerprint[] {
  const names = new Set([
    ...turns.map(({ id }) => turnName(String(id))),
    ...holds.map(({ call_id: id }) => callName(String(id))),
    ...charges.map(({ id }) => hashName(id as Hex)),
    ...batches.map((row) => hashName(row.batch_id as Hex)),
  ]);
  // In the order of the index that they go into.
  return [...names].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
