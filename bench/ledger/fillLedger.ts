import { createHash } from "node:crypto";
import type { Address, Hex } from "viem";
import type { BatchOutcome } from "../../settlement/domain/batch/batch.ts";
import type { DueCharge } from "../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import { splitRevenue } from "../../settlement/domain/split.ts";
import { uuidFromDigest } from "../../settlement/domain/text/uuid.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import { divide } from "../../settlement/engine/batch/divide.ts";
import type { Funds } from "../../settlement/engine/batch/draw.ts";
import { NOTHING_UNDERWAY } from "../../settlement/engine/batch/draw.ts";
import { netInSteps } from "../../settlement/engine/batch/net.ts";
import { DEFAULT_POLICY } from "../../settlement/engine/policy.ts";
import type { Lease, Ledger } from "../../settlement/ledger/ledger.ts";

const PAYERS = 1_000;
const TOOLS = 20;
const CALLS_PER_SESSION = 100;
// As many callers as the benchmark of accruals has.
const CALLERS = 64;
const CHARGES_PER_TURN = 2;
const PLENTY = 10n ** 15n;
const ROUTER = addressOf(0xc0de);
const OPERATOR = addressOf(0x0e);
const DOMAIN = { chainId: 8453, router: ROUTER };
const RETRY = {
  maxAttempts: 5,
  insurance: addressOf(0x1e5),
  backoffMs: () => 1_000,
  absorbable: () => 0n,
  owedRetryMs: 1_000,
  deferMs: 1_000,
};

// When the filled ledger was alive: a morning long before now.
export const DAY_MS = 24 * 60 * 60 * 1_000;
export const FILLED_AT_MS = Date.UTC(2026, 0, 1);

// A ledger with so many charges, half of them of turns with a tool and a model, half of calls in sessions, all of them settled in
// batches that are final: what is in it after months, without the chain that it takes to get there. Ids, hashes and receipts
// are as long, and as random, as they are in production.
export async function fillLedger(ledger: Ledger, charges: number, from = 0): Promise<void> {
  const turns = Array.from({ length: charges / 2 / CHARGES_PER_TURN }, (_, i) => from + i);
  await together(turns, (i) => recordTurn(ledger, i));
  const sessions = Array.from({ length: charges / 2 / CALLS_PER_SESSION }, (_, i) => from + i);
  await together(sessions, (i) => runSession(ledger, i));
  await settle(ledger, from);
}

async function recordTurn(ledger: Ledger, i: number): Promise<void> {
  const atMs = FILLED_AT_MS + (i % DAY_MS);
  const recorded = await ledger.recordTurn(
    {
      id: uuidOf(`turn ${i}`),
      payer: addressOf(1_000 + (i % PAYERS)),
      outcome: "delivered",
      modelCost: microUsdc(20_000n),
      tools: [{ toolId: toolOf(i), amount: microUsdc(80_000n), calls: 2 }],
      requestHash: hashOf(`request ${i}`),
      responseHash: hashOf(`response ${i}`),
    },
    atMs,
  );
  if (recorded.kind !== "recorded") throw new Error(`turn ${i} was answered with ${recorded.kind}`);
}

async function runSession(ledger: Ledger, i: number): Promise<void> {
  const id = uuidOf(`session ${i}`);
  const atMs = FILLED_AT_MS + (i % DAY_MS);
  const payer = addressOf(1_000 + (i % PAYERS));
  await ledger.openSession({ id, payer, maxSpend: microUsdc(1_000_000n), expiresAtMs: atMs + 3_600_000 }, atMs);
  const funds = { amount: PLENTY, atBlock: PLENTY };
  for (let call = 0; call < CALLS_PER_SESSION; call++) {
    const callId = uuidOf(`call ${i} ${call}`);
    const toolId = toolOf(i + (call % 5));
    await ledger.hold(
      { callId, sessionId: id, toolId, method: "quote", amount: microUsdc(1_000n) },
      funds,
      atMs + call,
    );
    const hashes = {
      request: hashOf(`request ${callId}`),
      response: hashOf(`response ${callId}`),
      schema: hashOf(`schema ${toolId}`),
    };
    await ledger.capture({ callId, hashes }, DEFAULT_POLICY.flush, atMs + call);
  }
  await ledger.closeSession(id, atMs + CALLS_PER_SESSION);
}

export async function leaseOfBench(ledger: Ledger): Promise<Lease> {
  const lease = await ledger.acquireLease(OPERATOR, "bench", 3_600_000);
  if (lease === null) throw new Error("the lease of the benchmark is taken");
  return lease;
}

async function settle(ledger: Ledger, from: number): Promise<void> {
  const lease = await leaseOfBench(ledger);
  const atMs = FILLED_AT_MS + DAY_MS;
  for (let block = from + 1; ; block++) {
    const planned = await planNext(ledger, lease, atMs, block);
    if (planned === null) return;
    const { batchId, outcome, inclusion } = planned;
    await ledger.recordInclusion(lease, batchId, inclusion, "success", outcome);
    await ledger.finalize(lease, batchId, outcome, RETRY, atMs);
  }
}

// Plans and signs a batch of what is due, as large as production makes them.
export async function planNext(ledger: Ledger, lease: Lease, atMs: number, block: number) {
  const due = await ledger.listDuePayers(atMs, DEFAULT_POLICY.bounds.maxRows);
  if (due.length === 0) return null;
  let outcome: BatchOutcome | null = null;
  const planned = await ledger.planBatch(
    lease,
    {
      ...divide(due, new Map(), DEFAULT_POLICY.bounds.maxCharges),
      maxCharges: DEFAULT_POLICY.bounds.maxCharges,
      router: ROUTER,
      net: async (charges) => {
        outcome = outcomeOf(charges);
        return netOf(charges);
      },
      retry: RETRY,
    },
    atMs,
  );
  if (planned === null || outcome === null) throw new Error("what is due made no batch");
  const inclusion = {
    txHash: hashOf(`transaction ${planned.id}`),
    blockNumber: BigInt(block),
    blockHash: hashOf(`block ${block}`),
    gasUsed: 2_500_000n,
  };
  await ledger.assignNonce(lease, planned.id, 0, 10_000_000n);
  await ledger.saveBroadcast(lease, planned.id, {
    txHash: inclusion.txHash,
    // The bytes that are signed are the calldata and about a hundred around it.
    raw: `${planned.calldata}${"00".repeat(110)}`,
    maxFeePerGas: 1_000_000n,
    maxPriorityFeePerGas: 1_000n,
    signedAtMs: atMs,
  });
  return { batchId: planned.id, outcome: outcome as BatchOutcome, inclusion };
}

function netOf(charges: readonly DueCharge[]) {
  const accounts = new Set(charges.map(({ chargedTo }) => chargedTo));
  const rich = (payer: Address): Funds => ({
    payer,
    amount: microUsdc(PLENTY),
    prepaid: microUsdc(0n),
    refunding: 0n,
    isBeyondCredit: false,
    balance: microUsdc(PLENTY),
    allowance: PLENTY,
    dailyCapLeft: PLENTY,
    consentRequired: false,
    budgets: new Map(),
    atBlock: PLENTY,
    timestamp: 0n,
  });
  const fundsOf = new Map([...accounts].map((payer) => [payer, rich(payer)]));
  return netInSteps(charges, fundsOf, {
    ...DEFAULT_POLICY.bounds,
    limit: PLENTY,
    room: PLENTY,
    previous: hashOf("previous"),
    domain: DOMAIN,
    underway: NOTHING_UNDERWAY,
  });
}

function outcomeOf(charges: readonly DueCharge[]): BatchOutcome {
  const earned = new Map<ToolId, bigint>();
  for (const { for: subject, amount } of charges) {
    if (subject.kind === "tool") earned.set(subject.toolId, (earned.get(subject.toolId) ?? 0n) + amount);
  }
  const paid = [...earned].map(([toolId, amount]) => ({
    toolId,
    payee: addressOf(Number(BigInt(toolId))),
    amount: microUsdc(amount),
    developerShare: microUsdc(splitRevenue(amount).developerShare),
  }));
  const charged = charges.reduce((sum, { amount }) => sum + amount, 0n);
  return { charged: microUsdc(charged), treasuryShare: microUsdc(0n), failed: [], refused: [], paid };
}

async function together(items: readonly number[], work: (item: number) => Promise<void>): Promise<void> {
  let next = 0;
  const caller = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

function hashOf(text: string): Hex {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}
const uuidOf = (text: string) => uuidFromDigest(hashOf(text).slice(2));
const toolOf = (n: number) => `0x${((n % TOOLS) + 1).toString(16).padStart(32, "0")}` as ToolId;
function addressOf(n: number): Address {
  return `0x${n.toString(16).padStart(40, "0")}`;
}
