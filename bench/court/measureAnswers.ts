import { type Address, type Hex, keccak256, stringToBytes } from "viem";
import { mined } from "../../scripts/world/mined.ts";
import type { LocalWorld } from "../../scripts/world/startWorld.ts";
import { encodeRows } from "../../settlement/chain/router/encodeRows.ts";
import type { Submission } from "../../settlement/domain/batch/submission.ts";
import type { DueCharge } from "../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import { createMerkleTree } from "../../settlement/engine/batch/merkleTree.ts";
import { MAX_RECEIPTS_PER_ROW } from "../../settlement/engine/batch/net.ts";
import { leafOf, NO_TOOL, receiptOf } from "../../settlement/engine/batch/receipt.ts";
import { answerOf } from "../../settlement/engine/court/answerOf.ts";
import { DEFAULT_POLICY } from "../../settlement/engine/policy.ts";

const PRICE = 1_000n;
const BATCH_RECEIPTS = DEFAULT_POLICY.bounds.maxCharges;
const MILLION = 1_000_000;

// What it costs an operator to show the receipts of the largest row that a batch can have, each for a call of a tenth of a cent, among
// as many receipts of others as a batch has room for; and what a million gas may cost at the most for the deposit to pay for it.
export async function measureAnswers(world: LocalWorld) {
  const [tool, payer, operator] = [world.tools[0], world.payers[0], world.operators[0]];
  if (!tool || !payer || !operator) throw new RangeError("the world is too small");
  const { receiptCourt, router, bonds, usdc } = world;
  const domain = { chainId: world.chainId, router: (await router.getAddress()) as Address };
  const account = payer.address.toLowerCase() as Address;
  const charges = Array.from({ length: BATCH_RECEIPTS }, (_, n) => chargeOf(n, account, tool.toolId as ToolId));
  const leaves = charges.map((charge) => leafOf(domain, charge));
  const tree = createMerkleTree(leaves);
  const batchId = tree.root;
  const own = charges.slice(0, MAX_RECEIPTS_PER_ROW);
  const charged = PRICE * BigInt(own.length);
  const rows = encodeRows([{ payer: account, modelCost: 0n, lines: [{ toolIndex: 0, amount: charged }] }]);
  const previous = await router.headOf(operator.address);
  const sent = await router.connect(operator).settle(previous, batchId, [tool.toolId], rows);
  await mined(sent);
  const deposit = await receiptCourt.DEPOSIT();
  await mined(usdc.connect(payer).approve(bonds, deposit));
  const settlement = { operator: operator.address, call: sent.data, exceptions: [] };
  await mined(receiptCourt.connect(payer).contest(settlement, account));

  const lines = [
    { toolId: NO_TOOL, amount: 0n },
    { toolId: tool.toolId as Hex, amount: charged },
  ];
  const receipts = own
    .map((charge, i) => ({ ...receiptOf(charge), leaf: hexOf(leaves[i] as Uint8Array) }))
    .sort((one, other) => (one.leaf < other.leaf ? -1 : 1));
  const row = { account, domain, submission: {} as Submission, row: 0, lines, receipts, tree };
  let [answers, gas] = [0, 0];
  while ((await receiptCourt.contestOf(batchId, account)).stage === 1n) {
    const { linesHash, lastLeaf } = await receiptCourt.progressOf(batchId, account, operator.address);
    const progress = { linesHash: linesHash as Hex, lastLeaf: lastLeaf as Hex };
    const next = answerOf({ batchId, account, lines, charged }, progress, row, DEFAULT_POLICY.court);
    if (next.kind !== "answer") throw new Error(next.reason);
    const { gasUsed } = await mined(operator.sendTransaction({ to: receiptCourt, data: next.calldata }));
    answers += 1;
    gas += Number(gasUsed);
  }
  return {
    receiptsPerRow: own.length,
    answersPerRow: answers,
    gasPerRow: gas,
    gasPerReceipt: Math.round(gas / own.length),
    depositPaysUsdPerMillionGas: Math.floor(((Number(deposit) / MILLION) * MILLION * 1_000) / gas) / 1_000,
  };
}

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;

// With all the hashes that a call can have, which is the most that a receipt can cost.
function chargeOf(n: number, account: Address, toolId: ToolId): DueCharge {
  const hash = (of: string) => keccak256(stringToBytes(`${of} ${n}`));
  return {
    id: hash("charge"),
    for: { kind: "tool", toolId, calls: 1 },
    payer: account,
    chargedTo: account,
    amount: microUsdc(PRICE),
    hashes: { request: hash("request"), response: hash("response"), schema: hash("schema") },
    accruedAtMs: 1_750_000_000_000 + n,
    attempts: 0,
    budgetId: null,
  };
}
