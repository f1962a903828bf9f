import type { Address, Hex } from "viem";
import { expect, it } from "vitest";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import type { BatchOutcome } from "../../domain/batch/batch.ts";
import { microUsdc } from "../../domain/money.ts";
import type { EngineContext, EngineEvent } from "../context.ts";
import { createConfirm } from "./confirm.ts";

const PAYER: Address = "0x00000000000000000000000000000000000000aa";
const OPERATOR: Address = "0x00000000000000000000000000000000000000bb";
const ROOT: Hex = `0x${"1".repeat(64)}`;
const TX: Hex = `0x${"2".repeat(64)}`;
const BLOCK: Hex = `0x${"3".repeat(64)}`;

const INCLUSION = { txHash: TX, blockNumber: 5n, blockHash: BLOCK, gasUsed: 1n };
const outcomeOf = (charged: bigint): BatchOutcome => ({
  charged: microUsdc(charged),
  treasuryShare: microUsdc(charged),
  failed: [],
  refused: [],
  paid: [],
});
const receiptOf = (charged: bigint) => ({
  ...INCLUSION,
  status: "success",
  batches: new Map([[ROOT, outcomeOf(charged)]]),
  isAgreed: true,
});

const REVERTED = { ...INCLUSION, status: "reverted", batches: new Map(), isAgreed: true };

// By the final block its nonce is spent, and its root is settled or not.
type AtFinal = { nonce?: number; settledAt?: bigint };

// A batch of 5 for the model, mined in block 5 with bytes of this ledger's and final since, and what the endpoints say of it.
async function concludedWith(
  receipt: object | null,
  state = "included",
  { nonce = 2, settledAt = 1n }: AtFinal = {},
): Promise<string[]> {
  const did: string[] = [];
  const rows = [{ payer: PAYER, modelCost: 5n, lines: [] }];
  const submission = {
    id: ROOT,
    kind: "settle",
    operator: OPERATOR,
    nonce: 1,
    calldata: encodeSettle({ previous: NO_BATCH, batchId: ROOT, toolIds: [], rows }),
    state: { kind: state, ...INCLUSION },
    broadcasts: [{ txHash: TX }],
  };
  const context = {
    chain: {
      finalized: async () => ({ number: 9n, hash: BLOCK, timestampMs: 0 }),
      blockHash: async () => BLOCK,
      receipt: async () => receipt,
      finalReceipt: async () => receipt,
      receiptOfBatch: async () => receipt,
      settledAt: async () => settledAt,
      nonce: async () => nonce,
    },
    ledger: {
      listMinedAbove: async () => [],
      listMinedUpTo: async () => (state === "submitted" ? [] : [{ id: ROOT, blockNumber: 5n, blockHash: BLOCK }]),
      listUnmined: async () => (state === "submitted" ? [submission] : []),
      listOpenNonces: async () => [],
      findSubmission: async () => submission,
      readRowBound: async () => null,
      recordInclusion: async (_: unknown, __: unknown, ___: unknown, status: string) => did.push(`mined: ${status}`),
      recordLoss: async () => did.push("lost"),
      abandon: async () => did.push("abandoned"),
      finalize: async () => did.push("final"),
      halt: async (reason: string) => did.push(reason),
    },
    clock: { nowMs: () => 0 },
    looking: { lifted: 0 },
    policy: { maxFinalPerTick: 1 },
    report: (event: EngineEvent) => event.kind === "holding" && did.push(event.reason),
    reached: () => {},
  } as unknown as EngineContext;
  await createConfirm(context)({ operator: OPERATOR, holder: "tests", token: 1, untilMs: 0 });
  return did;
}

it("a batch is final when its logs say what it asked for", async () => {
  expect(await concludedWith(receiptOf(5n))).toEqual(["final"]);
});

it("a batch whose logs say something else than it asked for halts all, whoever has signed it", async () => {
  expect(await concludedWith(receiptOf(6n))).toEqual([
    `batch ${ROOT} in ${TX}: 6 was charged on chain and 5 in the ledger`,
  ]);
});

it("nothing is concluded while endpoints differ: whose row has failed is charged again", async () => {
  expect(await concludedWith({ differs: "one of them is wrong" })).toEqual(["one of them is wrong"]);
});

it("a row has not failed for good while somebody who has its block does not show that", async () => {
  const failed = [{ chargedTo: PAYER, amount: microUsdc(5n), reason: "allowance" as const }];
  const receipt = { ...receiptOf(0n), batches: new Map([[ROOT, { ...outcomeOf(0n), failed }]]) };
  expect(await concludedWith({ ...receipt, isAgreed: false })).toEqual([expect.stringContaining("does not show it")]);
  expect(await concludedWith(receipt)).toEqual(["final"]);
});

it("nothing is final on one endpoint's word: neither that it was paid nor that it reverted", async () => {
  expect(await concludedWith({ ...receiptOf(5n), isAgreed: false })).toEqual([
    expect.stringContaining("does not show it"),
  ]);
  const madeUp = { ...REVERTED, isAgreed: false };
  expect(await concludedWith(madeUp, "reverted", { settledAt: 0n })).toEqual([
    expect.stringContaining("does not show it"),
  ]);
  // With the bytes on their way, and whoever shows it.
  expect(await concludedWith(REVERTED, "reverted", { nonce: 1, settledAt: 0n })).toEqual([
    expect.stringContaining("has its nonce unspent"),
  ]);
});

it("what was made up is on its way again once a final block rules it out", async () => {
  const isUnspent = { nonce: 1, settledAt: 0n };
  for (const receipt of [null, { ...receiptOf(5n), isAgreed: false }]) {
    expect(await concludedWith(receipt, "included", isUnspent)).toEqual(["lost"]);
    expect(await concludedWith(receipt, "reverted", isUnspent)).toEqual(["lost"]);
    expect(await concludedWith(receipt, "included", { settledAt: 0n })).toEqual(["lost"]);
  }
  // No receipt is no verdict, and nothing waits for one silently.
  expect(await concludedWith(null)).toEqual([expect.stringContaining("no endpoint shows")]);
  expect(await concludedWith(receiptOf(5n), "submitted", isUnspent)).toEqual([]);
  expect(await concludedWith(REVERTED, "submitted", isUnspent)).toEqual([]);
});

it("what the first endpoint said of a transaction is put right by what all of them say", async () => {
  expect(await concludedWith(receiptOf(5n), "reverted")).toEqual(["mined: success"]);
  expect(await concludedWith(REVERTED)).toEqual(["mined: reverted"]);
  expect(await concludedWith(REVERTED, "reverted", { settledAt: 0n })).toEqual(["abandoned"]);
});

it("a receipt without its logs says nothing yet", async () => {
  expect(await concludedWith({ ...receiptOf(5n), batches: new Map() }, "submitted")).toEqual([]);
  expect(await concludedWith(receiptOf(5n), "submitted")).toEqual(["mined: success"]);
});
