import { type Address, concat, type Hex, keccak256 } from "viem";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import type { Policy } from "../../settlement/engine/context.ts";
import { EARNING_BPS, type Protocol } from "./chain/protocol.ts";
import { limitOf } from "./chain/rollingLimit.ts";
import type { Rng } from "./rng.ts";

export const USDC = 1_000_000n;
export const PLENTY = 10n ** 13n;
export const ETHER = 10n ** 18n;
export const PRICE = 2n * USDC;
export const STAKE = 100n * PRICE;
export const OPERATOR_LIMIT = 1_000_000n * USDC;
const SECOND_MS = 1000;
// After so many steps what was mined is final, however many blocks that takes.
const FINALITY_STEPS = 20;

export const ROUTER = addressOf("c0de", 1);
export const TREASURY = addressOf("7ea5", 1);
export const INSURANCE = addressOf("1e5", 1);
export const PEER = addressOf("bee", 1);

// Who takes part in a run, and how it goes for them.
export type Scenario = {
  payers: readonly Address[];
  tools: readonly ToolId[];
  operators: readonly Address[];
  // All payers can always pay. Then no attempt may be used up, whatever else happens.
  kindPayers: boolean;
  // How many rows fit into a transaction.
  maxRows: number;
  // How likely a turn is delivered in a tick. Where little is, what could not be paid comes back alone.
  pace: number;
  // How far the finalized block is behind the head, and how many blocks pass between two looks of the engines: on Base
  // hundreds of blocks, so that many batches are mined before the first of them is final.
  finalityBlocks: number;
  blocksPerStep: number;
  // What each operator may move in 24 hours. Where it binds, what is due must wait for hours and still be settled.
  operatorLimit: bigint;
  // Through how many endpoints the chain is seen, and whether the first of them stands still to the end of the run.
  endpoints: number;
  stalled: boolean;
  // The daemons' clocks differ by minutes, to the end.
  skewed: boolean;
  // New keys that are suspended with their first batch on its way, so that others take it over on the same nonce number.
  handover: boolean;
  // Somebody else has the operators' keys, and uses them.
  thief: boolean;
  // The ledger is taken back to an earlier moment of itself now and then.
  forgetful: boolean;
  // Payers use sessions only, with no more money than they start with: pre-flight alone must keep them from owing more.
  tight: boolean;
  // Tools may earn little in a day, so that much of it waits for the next.
  capped: boolean;
  // Payers who can be charged under a budget alone; none in most runs.
  consenting: readonly Address[];
  // A payer whom the token goes on refusing for no reason after all faults have stopped. Nobody else may suffer from it.
  stubborn: Address | null;
};

// Production's rules with shorter waits, so that a run gets through all of them.
export function policyOf(rng: Rng): Policy {
  const bounds = { maxRows: rng.between(2, 5), maxLines: 12, maxCharges: rng.between(4, 16) };
  return {
    bounds,
    batch: { minCharges: Math.ceil(bounds.maxCharges / 3), maxWaitMs: 6 * SECOND_MS },
    // Reached by some runs while the chain is away. A write waits here for as long as a frozen process is frozen.
    admission: { maxCharges: 4 * bounds.maxCharges, maxSeconds: 10, maxLagMs: 20 * SECOND_MS },
    maxInFlight: rng.between(1, 4),
    maxFinalPerTick: 3,
    leaseMs: 15 * SECOND_MS,
    sessionTtlMs: 60 * SECOND_MS,
    maxOpenSessions: 1_000,
    holdTtlMs: 40 * SECOND_MS,
    turnHoldTtlMs: 50 * SECOND_MS,
    flush: { maxCount: 3, maxAmount: microUsdc(USDC), maxAgeMs: 20 * SECOND_MS },
    credit: { base: microUsdc(rng.pick([4n, 12n, 60n]) * USDC), growthBps: 1_000, max: microUsdc(60n * USDC) },
    absorptionBps: rng.pick([25, 100, 500]),
    collectMs: 10 * SECOND_MS,
    owedRetryMs: 60 * SECOND_MS,
    deferMs: 24 * 3_600 * SECOND_MS,
    budgetMarginMs: 90 * SECOND_MS,
    maxAttempts: rng.between(2, 5),
    firstRetryMs: 5 * SECOND_MS,
    maxRetryMs: 20 * SECOND_MS,
    brokenRowWaitMs: 20 * SECOND_MS,
    rebroadcastMs: 4 * SECOND_MS,
    stuckMs: 10 * SECOND_MS,
    stuckBlocks: 2n,
    maxFeePerGasCeiling: 5_000_000_000n,
    payoutEveryMs: 60 * SECOND_MS,
    payoutThreshold: microUsdc(2n * USDC),
    maxPayoutsPerTransaction: 3,
    sweepLimit: 20,
    signTimeoutMs: 10 * SECOND_MS,
    // The simulator has no time of its own: every question is answered, or refused.
    listingWaitMs: Number.POSITIVE_INFINITY,
    tokenCheckMs: 60 * SECOND_MS,
    // A run lasts minutes, so that what is final is soon old.
    court: { maxReceipts: 2, maxBytes: 100_000, lookMs: 10 * SECOND_MS },
    archive: { afterMs: 30 * SECOND_MS, limits: { chargesPerFile: 6, chargesPerBlock: 2 } },
  };
}

// What payers agree to is drawn from numbers of its own, so that runs without it go as they always did.
export function scenarioOf(rng: Rng, consent: Rng): Scenario {
  const payers = named("aa", rng.between(2, 6));
  const handover = rng.happens(0.15);
  const finalityBlocks = handover ? 12 : rng.pick([12, 12, 12, 40, rng.between(450, 900)]);
  const tight = !handover && rng.happens(0.12);
  const endpoints = rng.between(1, 3);
  return {
    endpoints,
    stalled: endpoints > 1 && rng.happens(0.2),
    handover,
    skewed: rng.happens(0.2),
    payers,
    tools: Array.from({ length: rng.between(1, 4) }, (_, i): ToolId => `0x${`${i + 1}`.padStart(32, "0")}` as ToolId),
    // All of them are new: their nonces begin at the same number.
    operators: named("0e", rng.between(handover ? 2 : 1, 3)),
    finalityBlocks,
    blocksPerStep: Math.ceil(finalityBlocks / FINALITY_STEPS),
    operatorLimit: !handover && rng.happens(0.25) ? BigInt(rng.between(4, 15)) * USDC : OPERATOR_LIMIT,
    thief: !handover && rng.happens(0.12),
    // A ledger that has forgotten what its payers owe cannot keep them from owing more.
    forgetful: !handover && !tight && rng.happens(0.15),
    tight,
    kindPayers: !tight && rng.happens(0.35),
    maxRows: rng.between(1, 5),
    pace: handover ? 0.3 : rng.pick([0.08, 0.2, 0.5, 0.5]),
    capped: !handover && rng.happens(0.15),
    stubborn: rng.happens(0.1) ? rng.pick(payers) : null,
    consenting: consent.happens(0.3) ? consent.shuffled(payers).slice(0, consent.between(1, payers.length)) : [],
  };
}

export function protocolOf(rng: Rng, scenario: Scenario): Protocol {
  const { payers, tools, operators, operatorLimit, kindPayers, tight, consenting } = scenario;
  const some = () => (kindPayers ? PLENTY : BigInt(rng.between(2, tight ? 5 : 60)) * USDC);
  // Some have paid in advance.
  const prepaid = payers.filter(() => rng.happens(0.4)).map((payer) => [payer, deposited(some())] as const);
  return {
    router: ROUTER,
    treasury: TREASURY,
    tokenPaused: false,
    blacklisted: new Set(),
    balances: new Map([
      [INSURANCE, PLENTY],
      [ROUTER, prepaid.reduce((sum, [, { balance }]) => sum + balance, 0n)],
      ...payers.map((payer) => [payer, some()] as const),
    ]),
    allowances: new Map([[INSURANCE, PLENTY], ...payers.map((payer) => [payer, some()] as const)]),
    tools: new Map(tools.map((toolId, i) => [toolId, { price: PRICE, stake: STAKE, payout: developerOf(i) }])),
    earningBps: scenario.capped ? 500n : EARNING_BPS,
    routerPaused: false,
    settledAt: new Map(),
    heads: new Map(),
    earnings: new Map(),
    operatorLimits: new Map([
      [PEER, limitOf(OPERATOR_LIMIT)],
      ...operators.map((operator) => [operator, limitOf(operatorLimit)] as const),
    ]),
    dailyCaps: new Map(),
    credits: new Map(),
    prepaid: new Map(prepaid),
    consentRequired: new Set(consenting),
    budgets: new Map(),
    isSigned: (payer, digest, signature) => signature === signatureOf(payer, digest),
    withdrawn: new Set(),
    unexplained: new Set(),
  };
}

const deposited = (balance: bigint) => ({ balance, refunding: 0n, readyAt: 0n });

// Payers of a run have no keys. What they sign is what nobody else would think of.
export const signatureOf = (payer: Address, digest: Hex): Hex => keccak256(concat([payer, digest]));

export const fundsOf = ({ operators }: Scenario) => new Map([...operators, PEER].map((operator) => [operator, ETHER]));

function addressOf(name: string, n: number): Address {
  return `0x${name}${n.toString(16).padStart(40 - name.length, "0")}`;
}

const named = (name: string, count: number) => Array.from({ length: count }, (_, i) => addressOf(name, i + 1));

export const developerOf = (i: number): Address => addressOf("de", i + 1);

export const hexOf = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;
