// Keccak-256, with which receipts and Merkle nodes are hashed, so that a proof is checked here and nobody must be
// believed. Written for being read: a proof is some dozen hashes.

const LANES = 25;
const RATE_BYTES = 136;
const WORD = (1n << 64n) - 1n;

const ROTATIONS = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
] as const;

const rotated = (lane: bigint, by: number) => ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & WORD;

// The round constants come out of a register of 8 bits that is shifted seven times a round.
const CONSTANTS = (() => {
  let register = 1;
  return Array.from({ length: 24 }, () => {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit++) {
      if (register & 1) constant |= 1n << BigInt((1 << bit) - 1);
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    }
    return constant;
  });
})();

function permute(state: bigint[]): void {
  const lane = (i: number) => state[i] ?? 0n;
  for (const constant of CONSTANTS) {
    const parity = [0, 1, 2, 3, 4].map((x) => lane(x) ^ lane(x + 5) ^ lane(x + 10) ^ lane(x + 15) ^ lane(x + 20));
    for (let i = 0; i < LANES; i++) {
      state[i] = lane(i) ^ (parity[(i + 4) % 5] ?? 0n) ^ rotated(parity[(i + 1) % 5] ?? 0n, 1);
    }
    const moved: bigint[] = [];
    for (let i = 0; i < LANES; i++) {
      const [x, y] = [i % 5, Math.floor(i / 5)];
      moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotated(lane(i), ROTATIONS[i] ?? 0);
    }
    for (let i = 0; i < LANES; i++) {
      const row = i - (i % 5);
      const [next = 0n, afterNext = 0n] = [moved[row + ((i + 1) % 5)], moved[row + ((i + 2) % 5)]];
      state[i] = (moved[i] ?? 0n) ^ (~next & WORD & afterNext);
    }
    state[0] = lane(0) ^ constant;
  }
}

export function keccak256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(bytes.length + RATE_BYTES - (bytes.length % RATE_BYTES));
  padded.set(bytes);
  padded[bytes.length] = 0x01;
  padded[padded.length - 1] = (padded.at(-1) ?? 0) | 0x80;
  const words = new DataView(padded.buffer);
  const state = Array.from({ length: LANES }, () => 0n);
  for (let block = 0; block < padded.length; block += RATE_BYTES) {
    for (let i = 0; i < RATE_BYTES / 8; i++) state[i] = (state[i] ?? 0n) ^ words.getBigUint64(block + 8 * i, true);
    permute(state);
  }
  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (let i = 0; i < 4; i++) out.setBigUint64(8 * i, state[i] ?? 0n, true);
  return digest;
}
