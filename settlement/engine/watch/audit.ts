import type { Address, Hex } from "viem";
import type { Chain } from "../../chain/chain.ts";
import { SettlementError } from "../../domain/errors.ts";
import { formatUsd, microUsdc } from "../../domain/money.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { reconcileBatch } from "../confirm/reconcileBatch.ts";
import { hasRowsOf } from "./explain.ts";

export type Audit = { kind: "equal"; batches: number } | { kind: "different"; differences: readonly string[] };

// Reads every settlement since `fromBlock` from the chain again and compares it with the ledger: each batch line by line,
// the batches of one with those of the other, and the sums. It trusts nothing that was recorded along the way.
export async function audit(
  ledger: Ledger,
  chain: Chain,
  fromBlock = 0n,
  // Keys of this deployment that a ledger may have forgotten with everything else.
  ownKeys: readonly Address[] = [],
): Promise<Audit> {
  const differences: string[] = [];
  // Settlement goes on meanwhile. The ledger's moment comes first, so that whatever was final then is on the chain's side of
  // the comparison, and what becomes final later is on neither.
  const final = await ledger.readFinalBatches();
  const finalized = await chain.finalized();
  // Endpoints do not call the same blocks final at the same time, and a chain that undoes what was final is shorter first.
  if (final.upTo > finalized.number) {
    throw unanswered(
      `the chain calls block ${finalized.number} final now, and the ledger has batches up to ${final.upTo}`,
    );
  }
  const keys = new Set(ownKeys.map((key) => key.toLowerCase() as Address));
  for (const { operator } of await ledger.listOperators()) keys.add(operator);
  const onChain = new Set<Hex>();
  let charged = 0n;
  // A transaction that one endpoint shows and another, which has its block, does not.
  let doubted: Hex | null = null;
  for (const { batchId, operator, txHash } of await chain.settledBatches(fromBlock, finalized.number)) {
    const submission = await ledger.findSubmission(batchId);
    // Other operators of the same router have ledgers of their own.
    if (submission === null && !keys.has(operator)) continue;
    onChain.add(batchId);
    if (submission === null) {
      differences.push(`batch ${batchId} in ${txHash} is on chain and not in the ledger`);
      continue;
    }
    // What was signed may be mined before it is recorded, and what is planned in a copy of the ledger may have been settled since. What
    // was given up may not be.
    if (submission.state.kind === "abandoned") {
      differences.push(`batch ${batchId} in ${txHash} is settled for good on chain and abandoned in the ledger`);
    }
    // No receipt is no verdict: the endpoint that has the log may not be the one that was asked now.
    const receipt = await chain.finalReceipt(txHash);
    if (receipt === null) throw unanswered(`no endpoint shows transaction ${txHash} now`);
    if ("differs" in receipt) throw unanswered(receipt.differs);
    if (!receipt.isAgreed) doubted ??= txHash;
    const outcome = receipt.batches.get(batchId) ?? null;
    const difference = reconcileBatch(submission, outcome);
    if (difference !== null && !receipt.isAgreed) throw unshown(txHash);
    if (difference !== null) differences.push(`batch ${batchId} in ${txHash}: ${difference}`);
    // Rows of somebody else's that failed add up to nothing, and so may those of the ledger if all of them had failed.
    else if (submission.kind === "settle" && !(await hasRowsOf({ chain }, submission, txHash))) {
      differences.push(`batch ${batchId} in ${txHash} was settled with other rows than the ledger has`);
    }
    // What was mined and not yet final in the ledger was not part of its sums yet.
    if (final.batchIds.has(batchId)) charged += outcome?.charged ?? 0n;
  }

  for (const batchId of final.batchIds) {
    if (!onChain.has(batchId)) differences.push(`batch ${batchId} is final in the ledger and not on chain`);
  }
  if (final.charged !== charged && doubted !== null && differences.length === 0) throw unshown(doubted);
  if (final.charged !== charged) {
    const amounts = [charged, final.charged].map((amount) => formatUsd(microUsdc(amount)));
    differences.push(`${amounts[0]} USDC were charged on chain and ${amounts[1]} in the ledger`);
  }
  return differences.length === 0 ? { kind: "equal", batches: onChain.size } : { kind: "different", differences };
}

const unshown = (txHash: Hex) => unanswered(`one endpoint shows transaction ${txHash} and another does not`);

const unanswered = (reason: string) =>
  new SettlementError("chain_unavailable", `${reason}; run the audit again`, { retryable: true });
