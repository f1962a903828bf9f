import type { Address, Hex } from "viem";
import { describe, expect, it } from "vitest";
import type { Chain } from "../../chain/chain.ts";
import { encodeSettle, NO_BATCH } from "../../chain/router/settleCall.ts";
import { microUsdc } from "../../domain/money.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { audit } from "./audit.ts";

const OPERATOR: Address = "0x00000000000000000000000000000000000000aa";
const ROOT: Hex = `0x${"1".repeat(64)}`;
const TX: Hex = `0x${"2".repeat(64)}`;

// A chain on which one operator has settled one batch for good, and a ledger that has it in some state or not at all.
function auditOf(
  submission: object | null,
  operator: Address = OPERATOR,
  operators: readonly Address[] = [OPERATOR],
  {
    receipt = { batches: new Map(), isAgreed: true } as object | null,
    upTo = 5n,
    shown = [] as (string | null)[],
  } = {},
) {
  const chain = {
    finalized: async () => ({ number: 9n, hash: TX, timestampMs: 0 }),
    settledBatches: async () => [{ batchId: ROOT, operator, txHash: TX, blockNumber: 5n }],
    finalReceipt: async () => receipt,
    calldataOf: async () => shown.shift() ?? null,
  } as unknown as Chain;
  const ledger = {
    readFinalBatches: async () => ({ batchIds: new Set(), charged: microUsdc(0n), upTo }),
    listOperators: async () => operators.map((known) => ({ operator: known })),
    findSubmission: async () => submission,
  } as unknown as Ledger;
  return audit(ledger, chain, 0n, [OPERATOR]);
}

it("a batch of our key that the ledger does not know is a difference", async () => {
  expect(await auditOf(null)).toMatchObject({
    kind: "different",
    differences: [expect.stringContaining("not in the ledger")],
  });
});

it("a ledger that has forgotten even its operators is no excuse", async () => {
  expect(await auditOf(null, OPERATOR, [])).toMatchObject({ kind: "different" });
});

it("a batch that the ledger has abandoned is a difference", async () => {
  expect(await auditOf({ kind: "payout", state: { kind: "abandoned" } })).toMatchObject({
    kind: "different",
    differences: [expect.stringContaining("abandoned in the ledger")],
  });
});

it("a batch that was signed and not recorded yet is none, and neither is another operator's", async () => {
  expect(await auditOf({ kind: "payout", state: { kind: "submitted" } })).toEqual({ kind: "equal", batches: 1 });
  expect(await auditOf(null, "0x00000000000000000000000000000000000000bb")).toEqual({ kind: "equal", batches: 0 });
});

it("says nothing while an endpoint does not show a receipt, or calls less final than the ledger has seen", async () => {
  const submitted = { kind: "settle", state: { kind: "submitted" } };
  await expect(auditOf(submitted, OPERATOR, [OPERATOR], { receipt: null })).rejects.toMatchObject({ retryable: true });
  await expect(auditOf(submitted, OPERATOR, [OPERATOR], { upTo: 10n })).rejects.toMatchObject({ retryable: true });
});

it("says nothing while endpoints show different receipts", async () => {
  const submitted = { kind: "settle", state: { kind: "submitted" } };
  const receipt = { differs: "endpoints show different receipts" };
  await expect(auditOf(submitted, OPERATOR, [OPERATOR], { receipt })).rejects.toMatchObject({ retryable: true });
  const alone = { batches: new Map(), isAgreed: false };
  await expect(auditOf(submitted, OPERATOR, [OPERATOR], { receipt: alone })).rejects.toMatchObject({ retryable: true });
});

describe("a root that was settled with rows of which all have failed", () => {
  const settling = (previous: Hex, modelCost: bigint) =>
    encodeSettle({ previous, batchId: ROOT, toolIds: [], rows: [{ payer: OPERATOR, modelCost, lines: [] }] });
  const failed = [{ chargedTo: OPERATOR, amount: microUsdc(5n), reason: "allowance" }];
  const outcome = { charged: 0n, treasuryShare: 0n, failed, refused: [], paid: [] };
  const receipt = { batches: new Map([[ROOT, outcome]]), isAgreed: true };
  const ours = {
    kind: "settle",
    id: ROOT,
    calldata: settling(NO_BATCH, 5n),
    broadcasts: [],
    state: { kind: "submitted" },
  };
  const audited = (shown: (string | null)[], submission: object = ours) =>
    auditOf(submission, OPERATOR, [OPERATOR], { receipt, shown });

  // Seeds 690 and 1164 found this.
  it("is a difference if they are others than the ledger has, and none after another batch or by our own bytes", async () => {
    expect(await audited([settling(NO_BATCH, 9n)])).toMatchObject({
      kind: "different",
      differences: [expect.stringContaining("other rows")],
    });
    expect(await audited([settling(TX, 5n)])).toMatchObject({ kind: "equal" });
    expect(await audited([], { ...ours, broadcasts: [{ txHash: TX }] })).toMatchObject({ kind: "equal" });
  });

  it("is a difference if nobody can say what they are, and none if the router bears out what a person brought", async () => {
    expect(await audited(["hidden", "hidden"])).toMatchObject({ kind: "different" });
    expect(await audited(["hidden", ours.calldata])).toMatchObject({ kind: "equal" });
    await expect(audited([null])).rejects.toMatchObject({ retryable: true });
  });
});
