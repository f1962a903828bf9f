// A marketplace with batches whose receipts are known: what an honest operator, or one who is not, settles and shows.
import type { TransactionResponse } from "ethers";
import { type Address, bytesToHex, type Hex } from "viem";
import { type Exception, exceptionsOf } from "../../../settlement/chain/court/exceptionsOf.ts";
import { type DueCharge, NO_HASHES } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { createMerkleTree, type MerkleTree } from "../../../settlement/engine/batch/merkleTree.ts";
import { leafOf, receiptOf } from "../../../settlement/engine/batch/receipt.ts";
import { type Charge, ethers, freshHash, marketplace, type Party, usd } from "../fixture.ts";

export const CONTEST_DEPOSIT = usd("1");
export const PREMIUM = usd("0.5");

export type Settled = {
  batchId: string;
  charges: readonly DueCharge[];
  settlement: { operator: string; call: string; exceptions: Exception[] };
  tree: MerkleTree;
};

export async function courtroom() {
  const market = await marketplace();
  const { router, bonds, receiptCourt, operator, payer, tool, usdc } = market;
  const { chainId } = await ethers.provider.getNetwork();
  const domain = { chainId: Number(chainId), router: (await router.getAddress()) as Address };

  // What somebody owes for calls of a tool, or for the model.
  function charge({
    chargedTo = payer,
    toolId = tool as string | null,
    amount = usd("0.10"),
    calls = 1,
    id = freshHash(),
    attempts = 0,
  } = {}): DueCharge {
    return {
      id: id as Hex,
      for: toolId === null ? { kind: "model" } : { kind: "tool", toolId: toolId as ToolId, calls },
      payer: payer.address.toLowerCase() as Address,
      chargedTo: chargedTo.address.toLowerCase() as Address,
      amount: microUsdc(amount),
      hashes: { ...NO_HASHES, request: freshHash() as Hex },
      accruedAtMs: 1_750_000_000_000,
      attempts,
      budgetId: null,
    };
  }

  const leaf = (due: DueCharge) => leafOf(domain, due);

  // Settles charges with their receipts in the tree, and more than them if `rows` says so.
  async function settleCharges(
    charges: readonly DueCharge[],
    { rows = rowsOf(charges), by = operator }: { rows?: readonly Charge[]; by?: Party } = {},
  ): Promise<Settled> {
    const tree = createMerkleTree(charges.map(leaf));
    const sent = await market.settle(rows, { batchId: tree.root, by });
    return { batchId: tree.root, charges, settlement: await settlementOf(sent), tree };
  }

  async function settlementOf(sent: TransactionResponse) {
    const receipt = await sent.wait();
    const logs = (receipt?.logs ?? []).map((log) => ({ ...log, topics: [...log.topics], address: log.address }));
    return { operator: sent.from, call: sent.data, exceptions: exceptionsOf(sent.data as Hex, logs as never) };
  }

  // That a charge was paid in a batch.
  const paid = ({ settlement, tree }: Settled, due: DueCharge) => ({
    settlement,
    receipt: receiptOf(due),
    path: tree.proofOf(bytesToHex(leaf(due))),
  });

  // The receipts of these charges, for the lines that are still to be shown.
  function answerOf(
    { tree }: Settled,
    lines: readonly { toolId: string; amount: bigint }[],
    charges: readonly DueCharge[],
  ) {
    const sorted = charges.toSorted((one, other) => Buffer.compare(leaf(one), leaf(other)));
    const receipts = sorted.map(receiptOf);
    const { proof, proofFlags } = tree.multiProofOf(sorted.map((due) => bytesToHex(leaf(due))));
    return {
      lines: lines.map(({ toolId, amount }) => ({ toolId, amount })),
      receipts,
      places: receipts.map(({ toolId }) => lines.findIndex((line) => line.toolId === toolId)),
      proof,
      proofFlags,
    };
  }

  const linesOf = async ({ settlement }: Settled, account: { address: string } = payer) =>
    (await receiptCourt.chargedIn(settlement, account.address)).lines;

  // Gives somebody the deposit, and contests.
  async function contest({ settlement }: Settled, { by = payer, whose = payer as { address: string } } = {}) {
    await usdc.mint(by, CONTEST_DEPOSIT);
    await usdc.connect(by).approve(bonds, CONTEST_DEPOSIT);
    return receiptCourt.connect(by).contest(settlement, whose.address);
  }

  // Answers with the receipts of these charges, or of all that the payer has in the batch.
  async function answer(batch: Settled, charges: readonly DueCharge[] = batch.charges, { by = operator } = {}) {
    const shown = answerOf(batch, await linesOf(batch), charges);
    return receiptCourt.connect(by).answer(batch.batchId, payer.address, shown);
  }

  const bondLeft = async (account = operator) => (await bonds.bondOf(account)).amount;

  return {
    ...market,
    domain,
    charge,
    leaf,
    settleCharges,
    settlementOf,
    paid,
    answerOf,
    linesOf,
    contest,
    answer,
    bondLeft,
  };
}

export type Courtroom = Awaited<ReturnType<typeof courtroom>>;

// One row for each account, one line for each tool.
export function rowsOf(charges: readonly DueCharge[]): Charge[] {
  const accounts = [...new Set(charges.map(({ chargedTo }) => chargedTo))];
  return accounts.map((address) => {
    const own = charges.filter(({ chargedTo }) => chargedTo === address);
    const lines = new Map<string, bigint>();
    let modelCost = 0n;
    for (const { for: subject, amount } of own) {
      if (subject.kind === "model") modelCost += amount;
      else lines.set(subject.toolId, (lines.get(subject.toolId) ?? 0n) + amount);
    }
    return { payer: { address }, modelCost, lines: [...lines] };
  });
}
