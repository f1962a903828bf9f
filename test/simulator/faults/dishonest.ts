import { type Address, encodeFunctionData, type Hex } from "viem";
import { routerAbi } from "../../../settlement/chain/router/abi.ts";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import { NO_BATCH } from "../../../settlement/chain/router/settleCall.ts";
import type { DueCharge } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { createMerkleTree } from "../../../settlement/engine/batch/merkleTree.ts";
import { leafOf } from "../../../settlement/engine/batch/receipt.ts";
import { CHAIN_ID } from "../chain/protocol.ts";
import type { SimulatedChain } from "../chain/simulatedChain.ts";
import type { WatchingPayers } from "../checks/watchingPayers.ts";
import type { Rng } from "../rng.ts";
import { ROUTER, type Scenario } from "../scenario.ts";

export const CHARGES_AGAIN = "an operator charges again what it has charged";

const GAS = 2_000_000n;

// An operator who is not honest: with its own key it charges a payer again for what it has charged before, under another root that
// has good receipts of it, so that no contest shows it, and forged ones beside them, which are to stop whoever looks. Returns whether
// it did.
export function chargeAgain(chain: SimulatedChain, rng: Rng, { payers }: Scenario, watching: WatchingPayers): boolean {
  const settled = newestBatches(chain);
  if (settled.length === 0 || !rng.happens(0.1)) return false;
  const { operator, batchId: before } = rng.pick(settled);
  const paid = watching.chargesOf(before).filter(({ chargedTo }) => payers.includes(chargedTo));
  if (paid.length === 0) return false;
  const payer = rng.pick(paid).chargedTo;
  const charges = paid
    .filter(({ chargedTo }) => chargedTo === payer)
    .map((due) => ({ ...due, attempts: due.attempts + 7 }));
  const receipts = [...charges, ...charges.flatMap((due) => forgeriesOf(rng, due))];
  const { root: batchId } = createMerkleTree(receipts.map((due) => leafOf({ chainId: CHAIN_ID, router: ROUTER }, due)));
  watching.forged(batchId, charges, receipts);
  const calldata = settleAgain(batchId, payer, charges, chain.head().state.protocol.heads.get(operator) ?? NO_BATCH);
  chain.inject({ from: operator, to: ROUTER, calldata, gasLimit: GAS, fleeting: false });
  return true;
}

// Receipts of nothing and of more than was charged, which the court does not hear, and others of the same charge, of which each proof
// takes something away from the next.
function forgeriesOf(rng: Rng, due: DueCharge): DueCharge[] {
  const amounts = [microUsdc(0n), microUsdc(due.amount * 1_000n), due.amount, due.amount];
  return amounts.flatMap((amount, i) =>
    rng.happens(0.3) ? [{ ...due, amount, attempts: due.attempts + 11 + i }] : [],
  );
}

function settleAgain(batchId: Hex, payer: Address, charges: readonly DueCharge[], previous: Hex): Hex {
  const toolIds = [
    ...new Set(charges.flatMap(({ for: subject }) => (subject.kind === "tool" ? [subject.toolId] : []))),
  ];
  const sumFor = (toolId: string | null) =>
    charges
      .filter(({ for: subject }) => (subject.kind === "tool" ? subject.toolId : null) === toolId)
      .reduce((sum, { amount }) => sum + amount, 0n);
  const lines = toolIds.map((toolId, toolIndex) => ({ toolIndex, amount: sumFor(toolId) }));
  const rows = encodeRows([{ payer, modelCost: sumFor(null), lines }]);
  return encodeFunctionData({ abi: routerAbi, functionName: "settle", args: [previous, batchId, toolIds, rows] });
}

// Batches of the newest blocks, whoever settled them.
function newestBatches(chain: SimulatedChain): { operator: Address; batchId: Hex }[] {
  const { number } = chain.head();
  return Array.from({ length: 40 }, (_, i) => chain.blockAt(number - i))
    .flatMap((block) => block?.transactions ?? [])
    .flatMap(({ transaction, receipt, batchId }) =>
      batchId !== null && receipt.batches.has(batchId) ? [{ operator: transaction.from, batchId }] : [],
    );
}
