import type { Address, Hex } from "viem";
import type { Chain } from "../chain/chain.ts";
import type { Signer } from "../chain/signer/signer.ts";
import type { Clock, Random } from "../clock.ts";
import type { BatchBounds } from "../domain/batch/batch.ts";
import type { Contest, ContestState } from "../domain/batch/contest.ts";
import type { MicroUsdc } from "../domain/money.ts";
import type { CreditPolicy } from "../domain/payer/credit.ts";
import { type ToolId, uuidFromToolId } from "../domain/toolId.ts";
import type { ArchiveLimits, FlushPolicy, Ledger, RetryPolicy } from "../ledger/ledger.ts";
import type { AnswerBounds } from "./court/answerOf.ts";

// Everything that decides how the engine behaves. `DEFAULT_POLICY` in policy.ts says why each number is what it is.
export type Policy = {
  bounds: BatchBounds;
  // A batch is made when it would have so many charges or as many rows as fit, or when its first charge has waited so long.
  batch: { minCharges: number; maxWaitMs: number };
  // How much may wait before new turns and holds are refused: so many charges, or as many as are taken in so many seconds; and
  // how long a write may wait for its commit.
  admission: { maxCharges: number; maxSeconds: number; maxLagMs: number };
  // How many submissions of one operator may be on their way to a block at a time. What is mined and not final is not.
  maxInFlight: number;
  // How many submissions of one operator become final in a tick, so that a tick ends while its lease is good.
  maxFinalPerTick: number;
  leaseMs: number;
  sessionTtlMs: number;
  // How many sessions of one payer may be open at a time.
  maxOpenSessions: number;
  holdTtlMs: number;
  // How long what a question may cost is reserved, unless it is asked for again.
  turnHoldTtlMs: number;
  flush: FlushPolicy;
  // How much may be delivered to a payer and not settled.
  credit: CreditPolicy;
  // The most that the platform absorbs for a tool in any 24 hours, in basis points of its stake.
  absorptionBps: number;
  // How often payers are looked at who owe what the platform does not absorb, and how long such a charge waits at the most until it
  // is tried again.
  collectMs: number;
  owedRetryMs: number;
  // How long a charge waits whose tool has earned all that its stake allows in a day.
  deferMs: number;
  // How long before its end a budget takes nothing new, so that what is drawn on it is settled in time.
  budgetMarginMs: number;
  maxAttempts: number;
  firstRetryMs: number;
  maxRetryMs: number;
  // How long a row that breaks its batch is set aside.
  brokenRowWaitMs: number;
  rebroadcastMs: number;
  // How long a transaction may wait, and how many blocks may pass it by, before it is replaced by a higher-fee one. A chain
  // that makes no blocks takes no offer, however high its fee.
  stuckMs: number;
  stuckBlocks: bigint;
  maxFeePerGasCeiling: bigint;
  payoutEveryMs: number;
  payoutThreshold: MicroUsdc;
  maxPayoutsPerTransaction: number;
  sweepLimit: number;
  signTimeoutMs: number;
  // How long a turn waits for what the registry says about its tools. It was delivered, and is recorded without that.
  listingWaitMs: number;
  // How often the code behind the token is looked at.
  tokenCheckMs: number;
  // How much one answer to a contest shows, and how long a contest that nothing has happened to is left alone.
  court: AnswerBounds & { lookMs: number };
  // How old what is final must be to leave for the archive, and how much of it leaves in a file and in a commit.
  archive: { afterMs: number; limits: ArchiveLimits };
};

// Where a test may pull the plug. In production nothing listens.
export type Failpoint =
  | "before_plan"
  | "after_plan"
  | "before_sign"
  | "after_sign"
  | "after_save"
  | "after_send"
  | "before_inclusion"
  | "after_inclusion"
  | "before_finalize"
  | "after_finalize"
  | "after_archive_written"
  | "after_archive_moved";

// A row that somebody demands receipts for.
type Contested = Pick<Contest, "batchId" | "account" | "operator" | "charged" | "untilMs">;

export type EngineEvent =
  | { kind: "planned"; batchId: Hex; operator: Address }
  | { kind: "sent"; id: Hex; txHash: Hex; outcome: string }
  | { kind: "replaced"; id: Hex; maxFeePerGas: bigint }
  | { kind: "included"; id: Hex; txHash: Hex; gasUsed: bigint }
  | { kind: "lost"; id: Hex }
  | { kind: "final"; id: Hex }
  | { kind: "abandoned"; id: Hex }
  | { kind: "answer_dropped"; id: Hex; reason: string }
  | { kind: "admitting" }
  | ({ kind: "contest_ended"; ended: Exclude<ContestState, "open"> } & Contested)
  // These ask for a person.
  | { kind: "overloaded"; reason: string }
  | { kind: "holding"; operator: Address; reason: string }
  | { kind: "row_set_aside"; payer: Address; reason: string }
  // It waits until the operator's limit is raised, or another operator has a higher one.
  | { kind: "above_limit"; operator: Address; chargeId: Hex; amount: MicroUsdc; limit: MicroUsdc }
  // It is answered, unless there is nothing to answer with, or no way to.
  | ({ kind: "contested" } & Contested)
  | ({ kind: "contest_unanswerable"; reason: string } & Contested)
  | { kind: "key_used_elsewhere"; operator: Address; nonce: number }
  | { kind: "usdc_upgraded"; from: Address; to: Address }
  // It was restored from a copy, or a standby took over.
  | { kind: "ledger_moved"; from: string; to: string }
  | { kind: "endpoint_stale" | "endpoint_contradicts"; endpoint: string; reason: string }
  | { kind: "halted"; reason: string }
  | { kind: "chain_unavailable" | "ledger_unavailable" | "signer_unavailable"; reason: string };

export type EngineContext = {
  ledger: Ledger;
  chain: Chain;
  signers: readonly Signer[];
  clock: Clock;
  random: Random;
  // Since which block there can be batches: that of the router's deployment.
  fromBlock: bigint;
  // This process, for its leases.
  holder: string;
  // How often a halt had been lifted when this tick, or whoever else looks, began to look, and where the ledger was then.
  looking: { lifted: number; home?: string };
  policy: Policy;
  report: (event: EngineEvent) => void;
  reached: (failpoint: Failpoint) => void;
};

const ALL_BPS = 10_000n;

// Doubles from the first wait to the longest and adds up to half of jitter, so that payers who failed together do not
// come back together. The stakes of these tools decide what is absorbed for them; a tool that is not listed has none. What of them is
// not known is not absorbed now, and is tried again.
export async function retryPolicy(
  { policy, chain, random, report }: Pick<EngineContext, "policy" | "chain" | "random" | "report">,
  toolIds: readonly ToolId[],
): Promise<RetryPolicy> {
  const found = toolIds.length === 0 ? [] : await chain.stakes(toolIds);
  const stakes = new Map<ToolId, bigint>();
  for (const [i, toolId] of toolIds.entries()) {
    const stake = found[i] ?? null;
    if (stake !== null) stakes.set(toolId, stake);
    else {
      const reason = `endpoints do not agree about the stake of tool ${uuidFromToolId(toolId)}; what its payers cannot pay waits until they do`;
      report({ kind: "chain_unavailable", reason });
    }
  }
  return {
    maxAttempts: policy.maxAttempts,
    insurance: chain.insurance,
    absorbable: (toolId) => {
      const stake = stakes.get(toolId);
      return stake === undefined ? undefined : (stake * BigInt(policy.absorptionBps)) / ALL_BPS;
    },
    owedRetryMs: policy.owedRetryMs,
    deferMs: policy.deferMs,
    backoffMs: (attempts) => {
      const waitMs = Math.min(policy.firstRetryMs * 2 ** (attempts - 1), policy.maxRetryMs);
      return Math.round(waitMs * (1 + random() / 2));
    },
  };
}
