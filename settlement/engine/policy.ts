import { parseUsd } from "../domain/money.ts";
import type { Policy } from "./context.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

export const DEFAULT_POLICY: Policy = {
  // 500 rows cost about 11 million gas: below the 16.7 million that one transaction may use, with room for cold storage.
  // 10,000 receipts are hashed in well under a second, which is how long the event loop may be busy.
  bounds: { maxRows: 500, maxLines: 2500, maxCharges: 10_000 },
  // A batch costs about as much gas by itself as three rows. Beside a finality of a quarter of an hour ten seconds are nothing.
  batch: { minCharges: 1000, maxWaitMs: 10 * SECOND_MS },
  // A million charges are a few minutes of settlement, and at a hundred calls a second three hours without a chain. What waits
  // for ten seconds beyond a block's time shows nowhere beside finality; what a commit takes is milliseconds.
  admission: { maxCharges: 1_000_000, maxSeconds: 10, maxLagMs: 5 * SECOND_MS },
  // A node keeps a few pending transactions of one sender without complaint.
  maxInFlight: 4,
  // Base calls hundreds of blocks final at a time. Each batch among them takes two questions and a commit.
  maxFinalPerTick: 20,
  leaseMs: 30 * SECOND_MS,
  sessionTtlMs: HOUR_MS,
  // Several times the calls that one payer has running at a time, each of which may be a session of its own. They cost nothing to open,
  // so that something else must bound them.
  maxOpenSessions: 1_000,
  // A call that has not ended by then has failed.
  holdTtlMs: 10 * MINUTE_MS,
  // A question may take half an hour, and its answer is reported within minutes, unless whoever asked has died.
  turnHoldTtlMs: 45 * MINUTE_MS,
  flush: { maxCount: 100, maxAmount: parseUsd("1"), maxAgeMs: 5 * MINUTE_MS },
  // As much as the smallest stake: hundreds of turns, or thousands of calls, in the seconds until they are settled. It grows as slowly
  // as the protocol's share, so that whoever pays a tool of its own for a higher limit pays as much as it gains.
  credit: { base: parseUsd("10"), growthBps: 1_000, max: parseUsd("1000") },
  // A stake stays for 7 days after its owner asked for it, and can be slashed. In that time less is absorbed than it is worth.
  absorptionBps: 1_000,
  // Whoever can pay again is served again; the others are tried once a day.
  collectMs: MINUTE_MS,
  owedRetryMs: 24 * HOUR_MS,
  // The chain looks at 24 to 32 hours.
  deferMs: 24 * HOUR_MS,
  // A call may take ten minutes, its session is flushed after five, and five attempts take forty.
  budgetMarginMs: HOUR_MS,
  // Five attempts, as the protocol promises; the waits add up to about 40 minutes.
  maxAttempts: 5,
  firstRetryMs: 2 * MINUTE_MS,
  maxRetryMs: HOUR_MS,
  brokenRowWaitMs: HOUR_MS,
  rebroadcastMs: 10 * SECOND_MS,
  // Base has a block every 2 seconds; after 15 of them the fee is the likely cause.
  stuckMs: 30 * SECOND_MS,
  stuckBlocks: 5n,
  maxFeePerGasCeiling: 5_000_000_000n,
  payoutEveryMs: 24 * HOUR_MS,
  payoutThreshold: parseUsd("10"),
  maxPayoutsPerTransaction: 100,
  sweepLimit: 1000,
  // A key management service answers in a second; a person with a hardware key needs longer.
  signTimeoutMs: 30 * SECOND_MS,
  // Several answers of a healthy endpoint, and far less than a client waits.
  listingWaitMs: SECOND_MS,
  // An upgrade of USDC is rare and announced; this costs one read.
  tokenCheckMs: MINUTE_MS,
  // A receipt is 384 bytes of calldata, and its part of the proof about as much again: so many are two thirds of the 128 KiB that
  // nodes take, and a few million gas. What changes about a contest by itself is that it becomes final, a quarter of an hour later.
  court: { maxReceipts: 100, maxBytes: 100_000, lookMs: MINUTE_MS },
  // A month of charges is at hand for whoever asks about last month's bill. A commit of 500 takes some 20 ms, which nobody who
  // waits for it notices, and a file of 50,000 some megabytes.
  archive: { afterMs: 30 * 24 * HOUR_MS, limits: { chargesPerFile: 50_000, chargesPerBlock: 500 } },
};
