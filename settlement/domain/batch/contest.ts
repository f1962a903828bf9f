import type { Address, Hex } from "viem";

// What of a contested row was charged: first for the model, whose tool id is zero, then line by line; nothing where a line was
// refused.
export type ContestedLine = { toolId: Hex; amount: bigint };

// A row that somebody demands receipts for, as the court has announced it. A row is named by its batch and its account.
export type Contest = {
  batchId: Hex;
  account: Address;
  // Who charged it, and answers.
  operator: Address;
  contester: Address;
  charged: bigint;
  // Until when receipts can be shown.
  untilMs: number;
  lines: readonly ContestedLine[];
  blockNumber: bigint;
};

export type ContestOnChain = { stage: "none" | "contested" | "answered" | "refunded"; untilMs: number };

// How far somebody has come with showing receipts: the hash of the lines that are left, and the leaf that was shown last. Zero if
// none was.
export type AnswerProgress = { linesHash: Hex; lastLeaf: Hex };

// How it ended, once a final block shows that: with an answer, without one in time, or not at all, because the block in which it
// was contested is gone.
export type ContestState = "open" | "answered" | "lapsed" | "undone";
