import { describe, expect, it } from "vitest";
import { createMerkleTree } from "../../../settlement/engine/batch/merkleTree.ts";
import { ReceiptCourt__factory } from "../../../typechain-types/index.ts";
import type { Deployment } from "../../command/openDeployment.ts";
import type { Session } from "../../command/session.ts";
import { leafOf, type Receipt } from "../../receipts/receipts.ts";
import { readShown } from "./readShown.ts";

const COURT = "0x00000000000000000000000000000000000000CC";
const PAYER = `0x${"a1".repeat(20)}`;
const OTHER = `0x${"b2".repeat(20)}`;
const hash = (digit: number): string => `0x${String(digit).padStart(64, "0")}`;
const domain = { chainId: 1n, router: `0x${"c3".repeat(20)}` };
const court = ReceiptCourt__factory.createInterface();

const receiptOf = (n: number, chargedTo = PAYER): Receipt => ({
  chargeId: hash(n),
  payer: chargedTo,
  chargedTo,
  toolId: `0x${"0".repeat(32)}`,
  amount: BigInt(n),
  calls: 1n,
  accruedAtMs: 0n,
  attempts: 0n,
  request: hash(0),
  response: hash(0),
  schema: hash(0),
});

const own = [receiptOf(1), receiptOf(2), receiptOf(3)].toSorted((one, other) =>
  leafOf(domain, one) < leafOf(domain, other) ? -1 : 1,
);
const bytesOf = (receipt: Receipt) => Buffer.from(leafOf(domain, receipt).slice(2), "hex");
const tree = createMerkleTree([...own, receiptOf(4, OTHER)].map(bytesOf));

// The calldata of an answer with these receipts, and of one that proves nothing.
function answerWith(receipts: readonly Receipt[], batchId = tree.root): string {
  const { proof, proofFlags } = tree.multiProofOf(receipts.map((receipt) => leafOf(domain, receipt)) as never);
  const places = receipts.map(() => 0);
  return court.encodeFunctionData("answer", [
    batchId,
    PAYER,
    { lines: [], receipts: [...receipts], places, proof, proofFlags },
  ]);
}

// Transactions that have led to events of the court.
async function shown(transactions: readonly { to: string; data: string }[]): Promise<bigint[]> {
  const provider = {
    getBlockNumber: async () => 10,
    getLogs: async () => transactions.map((_, i) => ({ transactionHash: hash(i) })),
    getTransaction: async (name: string) => transactions[Number(name)],
    send: async () => Promise.reject(new Error("method not found")),
  };
  const deployment = { addresses: { receiptCourt: COURT } } as unknown as Deployment;
  const row = { batchId: tree.root, block: 1 };
  const leaves = await readShown({ provider } as unknown as Session, deployment, domain, PAYER, row as never);
  return leaves.map(({ receipt }) => receipt.amount).sort();
}

const wrapped = (call: string) => {
  const length = ((call.length - 2) / 2).toString(16).padStart(64, "0");
  return { to: OTHER, data: `0xabcdef01${length}${call.slice(2)}` };
};

describe("the receipts that were shown to the court", () => {
  it("are those of all its answers", async () => {
    const answers = [own.slice(0, 1), own.slice(1)].map((part) => ({ to: COURT, data: answerWith(part) }));
    expect(await shown(answers)).toEqual([1n, 2n, 3n]);
  });

  it("count once each, however often somebody began again", async () => {
    const answers = [own.slice(2), own, own.slice(0, 2)].map((part) => ({ to: COURT, data: answerWith(part) }));
    expect(await shown(answers)).toEqual([1n, 2n, 3n]);
  });

  it("are found behind what only looks like an answer", async () => {
    const junk = wrapped(answerWith(own).slice(0, 2 + 8 + 64 * 6));
    const { to, data } = wrapped(answerWith(own));
    expect(await shown([{ to, data: junk.data + data.slice(2) }])).toEqual([1n, 2n, 3n]);
  });

  it("are found in what a contract was given, too", async () => {
    expect(await shown([wrapped(answerWith(own))])).toEqual([1n, 2n, 3n]);
  });

  it("are the payer's own, of this batch", async () => {
    const foreign = { to: COURT, data: answerWith([receiptOf(4, OTHER)]) };
    const another = { to: COURT, data: answerWith(own, hash(7) as never) };
    expect(await shown([foreign, another])).toEqual([]);
  });
});
