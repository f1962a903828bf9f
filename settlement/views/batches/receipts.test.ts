import { bytesToHex, padHex, toHex } from "viem";
import { expect, it } from "vitest";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import { type Charge, NO_HASHES } from "../../domain/charges/charge.ts";
import { microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { createMerkleTree } from "../../engine/batch/merkleTree.ts";
import { leafOf } from "../../engine/batch/receipt.ts";
import { receiptsOf } from "../../engine/court/receiptsOf.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { receiptsJson, receiptsView } from "./receipts.ts";

const [PAYER, ROUTER] = [padHex("0xaa", { size: 20 }), padHex("0xcc", { size: 20 })];
const TOOL = padHex("0x01", { size: 16 }) as ToolId;
const DOMAIN = { chainId: 8453, router: ROUTER };
const CHARGES = 6_000;
// A thousand receipts, or two thousand nodes of their tree, or two hundred paths to the root, are at most some ten milliseconds.
const STEPS = CHARGES / 1_000 - 1 + CHARGES / 2_000 + CHARGES / 200;

function largeBatch() {
  const amount = microUsdc(7n);
  const charges = Array.from({ length: CHARGES }, (_, n): Charge => {
    const batchId = padHex("0x", { size: 32 });
    return {
      id: padHex(toHex(n + 1), { size: 32 }),
      source: { kind: "turn", turnId: `${n}` },
      for: { kind: "tool", toolId: TOOL, calls: 1 },
      payer: PAYER,
      budgetId: null,
      chargedTo: PAYER,
      amount,
      hashes: NO_HASHES,
      accruedAtMs: n,
      attempts: 0,
      deferrals: 0,
      state: { kind: "final", batchId },
    };
  });
  const leaves = charges.map((charge) => leafOf(DOMAIN, charge));
  const { root: batchId } = createMerkleTree(leaves);
  const rows = [{ payer: PAYER, modelCost: 0n, lines: [{ toolIndex: 0, amount: amount * BigInt(CHARGES) }] }];
  const submission = {
    id: batchId,
    kind: "settle",
    to: ROUTER,
    operator: ROUTER,
    state: { kind: "submitted" },
    calldata: encodeSettle({ previous: NO_BATCH, batchId, toolIds: [TOOL], rows }),
  };
  const stored = charges.map(({ id }, n) => ({ chargeId: id, leaf: bytesToHex(leaves[n] as Uint8Array) }));
  const ledger = {
    findSubmission: async () => submission,
    listChargesOfRow: async () => charges,
    listReceipts: async () => stored,
  } as unknown as Ledger;
  return { ledger, batchId };
}

// How often others could run meanwhile.
async function turnsDuring(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let next: NodeJS.Immediate;
  const turn = () => {
    turns += 1;
    next = setImmediate(turn);
  };
  next = setImmediate(turn);
  await work();
  clearImmediate(next);
  return turns;
}

it("thousands of receipts are gathered and printed in steps, between which others run", async () => {
  const { ledger, batchId } = largeBatch();
  let printed = "";
  const turns = await turnsDuring(async () => {
    const found = await receiptsOf(ledger, DOMAIN, batchId, PAYER);
    if (found === null) throw new Error("there are none");
    for await (const part of receiptsJson(found)) printed += part;
  });
  expect(turns).toBeGreaterThanOrEqual(STEPS);
  const found = await receiptsOf(ledger, DOMAIN, batchId, PAYER);
  expect(JSON.parse(printed)).toEqual(found && receiptsView(found));
  expect(JSON.parse(printed).receipts).toHaveLength(CHARGES);
});
