import { createHash } from "node:crypto";
import type { Address, Hex } from "viem";
import type { BatchOutcome, ChargeFailure, Net } from "../../domain/batch/batch.ts";
import type { DueCharge } from "../../domain/charges/charge.ts";
import type { Turn } from "../../domain/charges/turn.ts";
import { type MicroUsdc, microUsdc, sumOf } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import type { FlushPolicy, Lease, Ledger, RetryPolicy } from "../ledger.ts";

export const usdc = (value: number | bigint): MicroUsdc => microUsdc(BigInt(value));
export const accountOf = (n: number): Address => `0x${n.toString(16).padStart(40, "0")}`;
export const toolOf = (n: number): ToolId => `0x${n.toString(16).padStart(32, "0")}` as ToolId;
export const hashOf = (text: string): Hex => `0x${createHash("sha256").update(text).digest("hex")}`;

// More than anybody spends in a test.
export const RICH = { amount: 10n ** 15n, atBlock: 0n };

export const ALICE = accountOf(0xa11ce);
export const BOB = accountOf(0xb0b);
export const INSURANCE = accountOf(0x1e5);
export const OPERATOR = accountOf(0x09e);
export const ROUTER = accountOf(0x4073);

export const HASHES = { request: hashOf("request"), response: hashOf("response"), schema: hashOf("schema") };
export const POLICY: FlushPolicy = { maxCount: 1_000, maxAmount: usdc(1_000_000_000), maxAgeMs: 60_000 };
export const RETRY: RetryPolicy = {
  maxAttempts: 5,
  insurance: INSURANCE,
  backoffMs: (attempts) => 1_000 * attempts,
  absorbable: () => 10n ** 15n,
  owedRetryMs: 100_000,
  deferMs: 86_400_000,
};

export function turnOf(id: string, fields: Partial<Turn> = {}): Turn {
  return {
    id,
    payer: ALICE,
    outcome: "delivered",
    modelCost: usdc(20_000),
    tools: [{ toolId: toolOf(1), amount: usdc(100_000), calls: 3 }],
    requestHash: HASHES.request,
    responseHash: HASHES.response,
    ...fields,
  };
}

// Puts everything into one batch, or leaves out what `reasonOf` gives a reason for.
export function netOf(reasonOf: (charge: DueCharge) => ChargeFailure | null = () => null): Net {
  return (charges) => {
    const unpayable = charges.flatMap((charge) => {
      const reason = reasonOf(charge);
      return reason === null ? [] : [{ chargeId: charge.id, reason }];
    });
    const left = charges.filter((charge) => reasonOf(charge) === null);
    if (left.length === 0) return { batch: null, unpayable };
    const accounts = [...new Set(left.map(({ chargedTo }) => chargedTo))];
    return {
      unpayable,
      batch: {
        batchId: hashOf(left.map(({ id, chargedTo, attempts }) => id + chargedTo + attempts).join()),
        rows: accounts.map((payer) => ({ payer, modelCost: 0n, lines: [] })),
        receipts: left.map(({ id, chargedTo }) => ({ chargeId: id, chargedTo, leaf: hashOf(id) })),
        total: sumOf(left.map(({ amount }) => amount)),
        calldata: "0x01",
      },
    };
  };
}

export function outcomeOf(fields: Partial<BatchOutcome> = {}): BatchOutcome {
  return { charged: usdc(0), treasuryShare: usdc(0), failed: [], refused: [], paid: [], ...fields };
}

export async function leaseOf(ledger: Ledger, operator: Address = OPERATOR, holder = "daemon"): Promise<Lease> {
  const lease = await ledger.acquireLease(operator, holder, 60_000);
  if (lease === null) throw new Error(`${holder} did not get the lease of ${operator}`);
  return lease;
}

// Plans a batch of everything that is due for these accounts.
export async function planned(ledger: Ledger, lease: Lease, accounts: readonly Address[], nowMs: number) {
  return ledger.planBatch(lease, { accounts, maxCharges: 1_000, router: ROUTER, net: netOf(), retry: RETRY }, nowMs);
}

let signatures = 0;

// Plans, signs and sends a batch; returns its id.
export async function submitted(
  ledger: Ledger,
  lease: Lease,
  accounts: readonly Address[],
  nowMs: number,
): Promise<Hex> {
  const submission = await planned(ledger, lease, accounts, nowMs);
  if (submission === null) throw new Error("nothing was due");
  await ledger.assignNonce(lease, submission.id, 0, 1_000_000n);
  signatures += 1;
  await ledger.saveBroadcast(lease, submission.id, {
    txHash: hashOf(`signature ${signatures}`),
    raw: "0x02",
    maxFeePerGas: 2n ** 70n,
    maxPriorityFeePerGas: 1n,
    signedAtMs: nowMs,
  });
  return submission.id;
}

export const inclusionAt = (blockNumber: bigint) => ({
  txHash: hashOf("transaction"),
  blockNumber,
  blockHash: hashOf(`block ${blockNumber}`),
  gasUsed: 100_000n,
});

// Settles what is due, through to the finalized block.
export async function settled(
  ledger: Ledger,
  lease: Lease,
  accounts: readonly Address[],
  outcome: BatchOutcome,
  nowMs: number,
): Promise<Hex> {
  const batchId = await submitted(ledger, lease, accounts, nowMs);
  await ledger.recordInclusion(lease, batchId, inclusionAt(1n), "success", outcome);
  await ledger.finalize(lease, batchId, outcome, RETRY, nowMs);
  return batchId;
}
