import type { Hex } from "viem";
import type { TxReceipt } from "../../../settlement/chain/chain.ts";
import { decodeSettle } from "../../../settlement/chain/router/settleCall.ts";
import type { BatchOutcome, BatchRow } from "../../../settlement/domain/batch/batch.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { splitRevenue } from "../../../settlement/domain/split.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import type { Faults } from "../faults/faults.ts";
import type { Rng } from "../rng.ts";

export const LIES = [
  "an endpoint makes up that a row has failed",
  "an endpoint leaves a batch out",
  "an endpoint makes up a revert",
  "an endpoint makes up a success",
  "an endpoint names another nonce",
  "an endpoint names another last batch",
  "an endpoint says that a batch is settled, or is not",
] as const;

export type Liar = ReturnType<typeof createLiar>;

// What one endpoint says that is not so. About what is final it must not be believed alone: whose row has failed for good is charged
// again, and what was settled and nobody shows is settled on top of.
export function createLiar(rng: Rng, faults: Faults) {
  const told = new Map<string, number>();
  const [failure, omission, revert, success, nonces, heads, settlements] = LIES;
  // What it has made up once it goes on saying.
  const madeUp = new Map<Hex, TxReceipt>();

  function lies(name: string, probability: number): boolean {
    if (faults.stopped() || !rng.happens(probability)) return false;
    faults.trace(`fault ${name}`);
    told.set(name, (told.get(name) ?? 0) + 1);
    return true;
  }

  return {
    told: (): ReadonlyMap<string, number> => told,
    leavesOut: () => lies(omission, 0.3),
    hasMadeUp: (txHash: Hex) => madeUp.has(txHash),
    // Of a transaction that it has in no block. `run` is what that would come to in a block of its choice: the final one, or the head.
    madeUp(txHash: Hex, run: (isFinal: boolean) => { receipt: TxReceipt; settles: boolean } | null): TxReceipt | null {
      if (faults.stopped()) return null;
      const known = madeUp.get(txHash);
      if (known !== undefined) return known;
      const what = rng.happens(0.5) ? revert : success;
      if (!lies(what, 0.05)) return null;
      const made = run(rng.happens(0.5));
      if (made === null) return null;
      const receipt: TxReceipt =
        what === success && made.settles ? made.receipt : { ...made.receipt, status: "reverted", batches: new Map() };
      madeUp.set(txHash, receipt);
      return receipt;
    },
    nonce: (nonce: number) =>
      lies(nonces, 0.1) ? (rng.happens(0.5) ? rng.between(0, nonce) : nonce + rng.between(1, 1_000_000)) : nonce,
    headOf: (head: Hex) =>
      lies(heads, 0.1)
        ? (`0x${rng
            .between(1, 2 ** 31)
            .toString(16)
            .padStart(64, "0")}` as Hex)
        : head,
    settledAt: (time: bigint) => (lies(settlements, 0.1) ? (time === 0n ? 1n : 0n) : time),
    receipt(receipt: TxReceipt, calldataOf: () => Hex): TxReceipt {
      const [settled] = receipt.batches;
      if (settled === undefined || !lies(failure, 0.3)) return receipt;
      const [batchId, outcome] = settled;
      const { rows, toolIds } = decodeSettle(calldataOf());
      const failed = new Set(outcome.failed.map(({ chargedTo }) => chargedTo));
      const row = rows.find(({ payer }) => !failed.has(payer));
      if (row === undefined) return receipt;
      return { ...receipt, batches: new Map([[batchId, withoutRow(outcome, row, toolIds)]]) };
    },
  };
}

// The logs of a batch in which one row more has failed. They add up.
function withoutRow(outcome: BatchOutcome, row: BatchRow, toolIds: readonly ToolId[]): BatchOutcome {
  const { payer, modelCost } = row;
  const isOwn = ({ chargedTo }: { chargedTo: string }) => chargedTo === payer;
  const refused = new Set(outcome.refused.filter(isOwn).map(({ toolId }) => toolId));
  let charged = outcome.charged - modelCost;
  let treasuryShare = outcome.treasuryShare - modelCost;
  const paid = outcome.paid.flatMap((tool) => {
    const line = row.lines.find(({ toolIndex }) => toolIds[toolIndex] === tool.toolId && !refused.has(tool.toolId));
    if (line === undefined) return [tool];
    const left = tool.amount - line.amount;
    charged -= line.amount;
    treasuryShare -= splitRevenue(tool.amount).protocolShare - splitRevenue(left).protocolShare;
    const { developerShare } = splitRevenue(left);
    return left === 0n ? [] : [{ ...tool, amount: microUsdc(left), developerShare: microUsdc(developerShare) }];
  });
  const amount = microUsdc(row.lines.reduce((sum, line) => sum + line.amount, modelCost));
  return {
    charged: microUsdc(charged),
    treasuryShare: microUsdc(treasuryShare),
    failed: [...outcome.failed, { chargedTo: payer, amount, reason: "allowance" }],
    refused: outcome.refused.filter((line) => !isOwn(line)),
    paid,
  };
}
