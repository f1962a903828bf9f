import { type Address, bytesToHex, type Hex } from "viem";
import { demandEach } from "../../../scripts/command/transaction/demandEach.ts";
import { type DoubleState, examineDoubles } from "../../../scripts/payer/watch/examineDoubles.ts";
import { type Double, findDoubles, type PaidLeaf } from "../../../scripts/payer/watch/findDoubles.ts";
import { judgeRow } from "../../../scripts/payer/watch/judgeRow.ts";
import type { PaidRow } from "../../../scripts/receipts/findRows.ts";
import type { Leaf } from "../../../scripts/receipts/receipts.ts";
import { decodeSettle } from "../../../settlement/chain/router/settleCall.ts";
import type { Batch, BatchOutcome } from "../../../settlement/domain/batch/batch.ts";
import type { DueCharge } from "../../../settlement/domain/charges/charge.ts";
import { smaller } from "../../../settlement/domain/money.ts";
import { createMerkleTree } from "../../../settlement/engine/batch/merkleTree.ts";
import { leafOf, receiptOf } from "../../../settlement/engine/batch/receipt.ts";
import type { Block } from "../chain/blocks.ts";
import { CHAIN_ID } from "../chain/protocol.ts";
import type { SimulatedChain } from "../chain/simulatedChain.ts";
import { INSURANCE, ROUTER, type Scenario } from "../scenario.ts";

const DOMAIN = { chainId: CHAIN_ID, router: ROUTER };
// Not a unit is too small for whoever wants to know whether any could be lost.
const LEAST = 1n;
const NO_TOOL = `0x${"0".repeat(32)}`;

export type WatchingPayers = ReturnType<typeof createWatchingPayers>;

// Payers who watch, with the code that payers watch with. All that they have is the chain, the receipts that somebody shows, and
// a court that does what ReceiptCourt does: it gives back rows without receipts, and second payments of a charge.
export function createWatchingPayers({ chain, scenario }: { chain: SimulatedChain; scenario: Scenario }) {
  // The charges under each root, as whoever made it can show them.
  const shown = new Map<Hex, readonly DueCharge[]>();
  const forged = new Map<Hex, readonly DueCharge[]>();
  let givenBackInAll = 0n;

  function leavesOf(batchId: Hex, payer: Address): Leaf[] {
    const charges = shown.get(batchId) ?? [];
    if (charges.length === 0) return [];
    const tree = createMerkleTree(charges.map((due) => leafOf(DOMAIN, due)));
    return charges
      .filter(({ chargedTo }) => chargedTo.toLowerCase() === payer.toLowerCase())
      .map((due) => {
        const leaf = bytesToHex(leafOf(DOMAIN, due));
        return { receipt: receiptOf(due), leaf, path: tree.proofOf(leaf) };
      });
  }

  // What a payer gets back of all that was taken from it for good.
  async function givenBackTo(payer: Address): Promise<{ paid: bigint; givenBack: bigint; undecided: bigint }> {
    const rows = finalBlocks(chain).flatMap((block) => rowsIn(block, payer));
    const court = createCourt();
    const paid: PaidLeaf[] = [];
    for (const row of rows) {
      const { findings, leaves } = judgeRow(row, payer, leavesOf(row.batchId as Hex, payer), INSURANCE);
      if (findings.some(({ contestable }) => contestable)) court.refund(row);
      else paid.push(...leaves.map((leaf) => ({ ...leaf, row })));
    }
    const doubles = await examineDoubles(findDoubles(paid), LEAST, async (double) => court.stateOf(double));
    await demandEach(
      doubles.filter(({ state }) => state === "provable"),
      async (double) => court.prove(double),
    );
    // For the court the same charge under another key is another charge.
    const undecided = sumOf(
      doubles.flatMap(({ doubled, state }) => (state === "two operators" ? [court.leftOf(doubled)] : [])),
    );
    return { paid: sumOf(rows.map(({ charged }) => charged)), givenBack: court.givenBack(), undecided };
  }

  return {
    planned({ batchId, receipts }: Batch, charges: readonly DueCharge[]): void {
      const inBatch = new Set(receipts.map(({ chargeId }) => chargeId));
      shown.set(
        batchId,
        charges.filter(({ id }) => inBatch.has(id)),
      );
    },
    // What a dishonest operator has charged, and what it has put under a root of its own.
    forged(batchId: Hex, charges: readonly DueCharge[], receipts: readonly DueCharge[]): void {
      forged.set(batchId, charges);
      shown.set(batchId, receipts);
    },
    chargesOf: (batchId: Hex) => forged.get(batchId) ?? shown.get(batchId) ?? [],
    givenBack: () => givenBackInAll,
    // Once all is over nobody has paid more than was delivered, but for what came back.
    async check(delivered: (payer: Address) => bigint): Promise<string[]> {
      const losses: string[] = [];
      for (const payer of scenario.payers) {
        const { paid, givenBack, undecided } = await givenBackTo(payer);
        givenBackInAll += givenBack;
        const lost = paid - givenBack - undecided - delivered(payer);
        if (lost > 0n) losses.push(`${payer} watches, paid ${paid}, got ${givenBack} back, and has lost ${lost}`);
      }
      return losses;
    },
  };
}

// What ReceiptCourt does with proofs of one payer: it hears no receipt that no line has room for, gives a row back no more than once,
// and takes a payment that was proven to be the second for no other proof.
function createCourt() {
  const backOf = new Map<string, bigint>();
  const isDouble = new Set<string>();
  const keyOf = ({ row, leaf }: PaidLeaf) => `${row.batchId} ${leaf}`;
  const leftOf = ({ row, receipt }: PaidLeaf) => smaller(receipt.amount, row.charged - (backOf.get(row.batchId) ?? 0n));

  function hear({ receipt, row }: PaidLeaf): void {
    const hasLine = row.lines.some(({ toolId, amount }) => toolId === receipt.toolId && amount >= receipt.amount);
    if (!hasLine || receipt.amount === 0n) throw new Error(`NothingCharged(${row.batchId})`);
  }

  function stateOf({ kept, doubled }: Double): DoubleState {
    hear(kept);
    hear(doubled);
    const isOver = isDouble.has(keyOf(kept)) || isDouble.has(keyOf(doubled)) || leftOf(doubled) === 0n;
    return isOver ? "given back" : "provable";
  }

  return {
    stateOf,
    leftOf,
    refund: ({ batchId, charged }: PaidRow) => backOf.set(batchId, charged),
    prove(double: Double): void {
      if (stateOf(double) !== "provable") throw new Error("AlreadyRefunded");
      const { row } = double.doubled;
      const amount = leftOf(double.doubled);
      isDouble.add(keyOf(double.doubled));
      backOf.set(row.batchId, (backOf.get(row.batchId) ?? 0n) + amount);
    },
    givenBack: () => sumOf([...backOf.values()]),
  };
}

function finalBlocks(chain: SimulatedChain): Block[] {
  return Array.from({ length: chain.finalizedNumber() + 1 }, (_, number) => chain.blockAt(number)).filter(
    (block) => block !== null,
  );
}

function rowsIn({ number, timestamp, transactions }: Block, payer: Address): PaidRow[] {
  return transactions.flatMap(({ transaction, receipt, batchId }) => {
    const outcome = batchId === null ? undefined : receipt.batches.get(batchId);
    if (batchId === null || outcome === undefined) return [];
    const lines = paidLines(transaction.calldata, outcome, payer);
    const charged = sumOf(lines.map(({ amount }) => amount));
    if (charged === 0n) return [];
    return [
      {
        batchId,
        operator: transaction.from,
        transaction: transaction.hash,
        block: number,
        settledAt: BigInt(timestamp),
        settlement: { operator: transaction.from, call: transaction.calldata, exceptions: [] },
        lines,
        charged,
      },
    ];
  });
}

// What of a payer's row was charged, as ReceiptCourt.chargedIn says it.
function paidLines(calldata: Hex, { failed, refused }: BatchOutcome, payer: Address): PaidRow["lines"] {
  const isPayers = (account: Address) => account.toLowerCase() === payer.toLowerCase();
  const { toolIds, rows } = decodeSettle(calldata);
  const row = rows.find((candidate) => isPayers(candidate.payer));
  if (row === undefined || failed.some(({ chargedTo }) => isPayers(chargedTo))) return [];
  const without = new Set(refused.filter(({ chargedTo }) => isPayers(chargedTo)).map(({ toolId }) => toolId));
  return [
    { toolId: NO_TOOL, amount: row.modelCost },
    ...row.lines
      .map(({ toolIndex, amount }) => ({ toolId: toolIds[toolIndex] ?? "", amount }))
      .filter(({ toolId }) => !without.has(toolId as never)),
  ];
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);
