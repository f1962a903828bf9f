import type { Address, Hex } from "viem";
import { budgetDigest } from "../../../settlement/chain/router/budgetDigest.ts";
import { decodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import type { BatchOutcome, BatchRow, ChargeFailure, RowBudget } from "../../../settlement/domain/batch/batch.ts";
import { microUsdc, smaller } from "../../../settlement/domain/money.ts";
import { type BudgetOnChain, hashTools } from "../../../settlement/domain/payer/budget.ts";
import { splitRevenue } from "../../../settlement/domain/split.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { leftOf, limitOf, type RollingLimit, spend } from "./rollingLimit.ts";

// USDC, the stake registry and the router as far as settlement touches them. Addresses are in lower case. Every value in
// a map is replaced and never changed, so that a copy of the maps is a copy of everything.
export type Protocol = {
  router: Address;
  treasury: Address;
  tokenPaused: boolean;
  blacklisted: Set<Address>;
  balances: Map<Address, bigint>;
  // What each payer lets the router take.
  allowances: Map<Address, bigint>;
  tools: Map<ToolId, { price: bigint; stake: bigint; payout: Address }>;
  // What a tool may earn in a day, in basis points of its stake.
  earningBps: bigint;
  routerPaused: boolean;
  settledAt: Map<Hex, bigint>;
  // The last batch of each operator.
  heads: Map<Address, Hex>;
  // What each tool has earned of what its stake allows.
  earnings: Map<ToolId, RollingLimit>;
  operatorLimits: Map<Address, RollingLimit>;
  dailyCaps: Map<Address, RollingLimit>;
  credits: Map<Address, bigint>;
  prepaid: Map<Address, Prepaid>;
  // Payers who can be charged under a budget alone.
  consentRequired: Set<Address>;
  // By `budgetKeyOf`.
  budgets: Map<string, BudgetOnChain>;
  // Whether a payer has signed something.
  isSigned: (payer: Address, digest: Hex, signature: Hex) => boolean;
  // Smart accounts that no longer stand by what they have signed.
  withdrawn: Set<Address>;
  // Payers whom the token refuses for a reason that it does not give. The token of today has no such case.
  unexplained: Set<Address>;
};

export type Prepaid = { balance: bigint; refunding: bigint; readyAt: bigint };

type Refusal = BatchOutcome["refused"][number];

export type Settled = BatchOutcome;

// A revert undoes everything: whoever gets one throws the state away that it worked on.
export type Reverted = { kind: "reverted"; error: string; args: readonly (string | bigint)[] };

export type SettleResult = { kind: "settled"; outcome: Settled } | Reverted;

const MINIMUM_STAKE = 10_000_000n;
export const STAKE_MULTIPLIER = 100n;
export const EARNING_BPS = 100n * 10_000n;
const MAX_EARNINGS = 2n ** 40n - 1n;
const NO_ROOT: Hex = `0x${"0".repeat(64)}`;
export const CHAIN_ID = 8453;
export const REFUND_DELAY = 2n * 86_400n;
export const BUDGET_GRACE = 86_400n;
const NO_PREPAID: Prepaid = { balance: 0n, refunding: 0n, readyAt: 0n };
const NO_BUDGET: BudgetOnChain = {
  maxSpend: microUsdc(0n),
  spent: microUsdc(0n),
  validUntil: 0n,
  endsAt: 0n,
  toolsHash: hashTools([]),
};

export function copyOf(protocol: Protocol): Protocol {
  return {
    ...protocol,
    blacklisted: new Set(protocol.blacklisted),
    balances: new Map(protocol.balances),
    allowances: new Map(protocol.allowances),
    tools: new Map(protocol.tools),
    settledAt: new Map(protocol.settledAt),
    heads: new Map(protocol.heads),
    earnings: new Map(protocol.earnings),
    operatorLimits: new Map(protocol.operatorLimits),
    dailyCaps: new Map(protocol.dailyCaps),
    credits: new Map(protocol.credits),
    prepaid: new Map(protocol.prepaid),
    consentRequired: new Set(protocol.consentRequired),
    budgets: new Map(protocol.budgets),
    withdrawn: new Set(protocol.withdrawn),
    unexplained: new Set(protocol.unexplained),
  };
}

const at = <K>(map: ReadonlyMap<K, bigint>, key: K) => map.get(key) ?? 0n;
const add = <K>(map: Map<K, bigint>, key: K, amount: bigint) => map.set(key, at(map, key) + amount);

export const tokenUnavailable = ({ tokenPaused, blacklisted, router }: Protocol) =>
  tokenPaused || blacklisted.has(router);

export function payeeOf({ tools }: Protocol, toolId: ToolId): Address | null {
  const tool = tools.get(toolId);
  if (tool === undefined) return null;
  const byPrice = tool.price * STAKE_MULTIPLIER;
  return tool.stake < (byPrice > MINIMUM_STAKE ? byPrice : MINIMUM_STAKE) ? null : tool.payout;
}

// What a tool may still earn.
export function earningsLeftOf(protocol: Protocol, toolId: ToolId, timestamp: bigint): bigint {
  if (payeeOf(protocol, toolId) === null) return 0n;
  const limit = ((protocol.tools.get(toolId)?.stake ?? 0n) * protocol.earningBps) / 10_000n;
  const cap = [limit, MAX_EARNINGS].reduce((a: bigint, b: bigint) => (a < b ? a : b));
  return leftOf({ ...(protocol.earnings.get(toolId) ?? limitOf(0n)), cap }, timestamp);
}

export function spendableOf(protocol: Protocol, payer: Address, timestamp: bigint) {
  const balance = at(protocol.balances, payer);
  const allowance = at(protocol.allowances, payer);
  const cap = protocol.dailyCaps.get(payer);
  const dailyCapLeft = cap === undefined || cap.cap === 0n ? 2n ** 256n - 1n : leftOf(cap, timestamp);
  const least = [balance, allowance, dailyCapLeft].reduce((a: bigint, b: bigint) => (a < b ? a : b));
  const amount = protocol.routerPaused || tokenUnavailable(protocol) || protocol.blacklisted.has(payer) ? 0n : least;
  const deposited = prepaidOf(protocol, payer);
  const prepaid = deposited.balance > deposited.refunding ? deposited.balance - deposited.refunding : 0n;
  return {
    payer,
    timestamp,
    amount: microUsdc(amount),
    balance: microUsdc(balance),
    allowance,
    dailyCapLeft,
    prepaid: microUsdc(prepaid),
    consentRequired: protocol.consentRequired.has(payer),
  };
}

export const budgetKeyOf = (payer: Address, id: bigint) => `${payer} ${id}`;

export const prepaidOf = ({ prepaid }: Protocol, payer: Address) => prepaid.get(payer) ?? NO_PREPAID;

export const budgetOf = ({ budgets }: Protocol, payer: Address, id: bigint) =>
  budgets.get(budgetKeyOf(payer, id)) ?? NO_BUDGET;

// `deposit`: out of the payer's wallet, which the caller has looked into.
export function deposit(protocol: Protocol, payer: Address, amount: bigint): void {
  const before = prepaidOf(protocol, payer);
  protocol.prepaid.set(payer, { ...before, balance: before.balance + amount });
  add(protocol.allowances, payer, -amount);
  add(protocol.balances, payer, -amount);
  add(protocol.balances, protocol.router, amount);
}

export function requestRefund(protocol: Protocol, payer: Address, amount: bigint, timestamp: bigint): void {
  const { balance } = prepaidOf(protocol, payer);
  protocol.prepaid.set(payer, { balance, refunding: amount, readyAt: amount === 0n ? 0n : timestamp + REFUND_DELAY });
}

// `refund`, if it is ready: what was asked back, as far as it was not drawn meanwhile.
export function refund(protocol: Protocol, payer: Address, timestamp: bigint): void {
  const { balance, refunding, readyAt } = prepaidOf(protocol, payer);
  if (readyAt === 0n || timestamp < readyAt) return;
  const amount = smaller(refunding, balance);
  protocol.prepaid.set(payer, { balance: balance - amount, refunding: 0n, readyAt: 0n });
  add(protocol.balances, protocol.router, -amount);
  add(protocol.balances, payer, amount);
}

export function endBudget(protocol: Protocol, payer: Address, id: bigint, timestamp: bigint): void {
  const before = budgetOf(protocol, payer, id);
  if (before.endsAt !== 0n) return;
  protocol.budgets.set(budgetKeyOf(payer, id), { ...before, endsAt: timestamp + BUDGET_GRACE });
}

class Revert extends Error {
  readonly reverted: Reverted;

  constructor(error: string, ...args: (string | bigint)[]) {
    super(error);
    this.reverted = { kind: "reverted", error, args };
  }
}

export type SettleCall = {
  operator: Address;
  previous: Hex;
  batchId: Hex;
  toolIds: readonly ToolId[];
  rows: Hex;
  timestamp: bigint;
};

// `ContextRouter.settle`, on a state that the caller throws away after a revert.
export function settle(protocol: Protocol, call: SettleCall): SettleResult {
  try {
    return { kind: "settled", outcome: settleOrRevert(protocol, call) };
  } catch (error) {
    if (error instanceof Revert) return error.reverted;
    throw error;
  }
}

function settleOrRevert(protocol: Protocol, call: SettleCall): Settled {
  const { operator, previous, batchId, toolIds, rows, timestamp } = call;
  if (protocol.routerPaused) throw new Revert("EnforcedPause");
  const limit = protocol.operatorLimits.get(operator);
  if (limit === undefined || limit.cap === 0n) throw new Revert("NotOperator", operator);
  if (batchId === NO_ROOT) throw new Revert("EmptyBatch");
  const before = at(protocol.settledAt, batchId);
  if (before !== 0n) throw new Revert("BatchAlreadySettled", batchId, before);
  protocol.settledAt.set(batchId, timestamp);
  const head = protocol.heads.get(operator) ?? NO_ROOT;
  if (previous !== head) throw new Revert("BatchOutOfOrder", previous, head);
  protocol.heads.set(operator, batchId);

  if (toolIds.length > 256) throw new Revert("TooManyTools", BigInt(toolIds.length), 256n);
  const payees = toolIds.map((toolId) => payeeOf(protocol, toolId));
  const rooms = toolIds.map((toolId) => earningsLeftOf(protocol, toolId, timestamp));
  const earned = toolIds.map(() => 0n);
  const failed: Settled["failed"][number][] = [];
  const refused: Refusal[] = [];
  let charged = 0n;
  let treasuryShare = 0n;
  let lastPayer = 0n;
  for (const row of decodeRows(rows)) {
    if (BigInt(row.payer) <= lastPayer) throw new Revert("RowsOutOfOrder");
    lastPayer = BigInt(row.payer);
    const lines = row.lines.map(({ toolIndex, amount }) => {
      const sum = (earned[toolIndex] ?? 0n) + amount;
      const fits = sum <= (rooms[toolIndex] ?? 0n);
      if (fits && toolIndex < toolIds.length) earned[toolIndex] = sum;
      return { toolIndex, amount, fits };
    });
    const refusedLines = lines.filter(({ fits }) => !fits);
    for (const { toolIndex } of refusedLines.length > 0 ? lines : []) {
      if (toolIndex >= toolIds.length) {
        throw new Revert("ToolIndexOutOfRange", BigInt(toolIndex), BigInt(toolIds.length));
      }
    }
    refused.push(...refusedLines.map((line) => refusalOf(protocol, row, toolIds, payees, line)));
    const taken = lines.filter(({ fits }) => fits);
    const total = taken.reduce((sum, { amount }) => sum + amount, row.modelCost);
    const reason = charge(protocol, row, toolIds, total, timestamp);
    if (reason !== null) {
      failed.push({ chargedTo: row.payer, amount: microUsdc(total), reason });
      for (const { toolIndex, amount } of taken) earned[toolIndex] = (earned[toolIndex] ?? 0n) - amount;
      continue;
    }
    charged += total;
    treasuryShare += row.modelCost;
  }
  if (charged === 0n && failed.length === 0 && refused.length === 0) throw new Revert("EmptyBatch");

  const left = leftOf(limit, timestamp);
  if (charged > left) throw new Revert("OperatorLimitExceeded", charged, left);
  protocol.operatorLimits.set(operator, spend(limit, charged, timestamp));

  const paid: Settled["paid"][number][] = [];
  for (const [index, toolId] of toolIds.entries()) {
    const amount = earned[index] ?? 0n;
    const payee = payees[index] ?? null;
    if (amount === 0n || payee === null) continue;
    const { developerShare, protocolShare } = splitRevenue(amount);
    protocol.earnings.set(toolId, spend(protocol.earnings.get(toolId) ?? limitOf(0n), amount, timestamp));
    add(protocol.credits, payee, developerShare);
    treasuryShare += protocolShare;
    paid.push({ toolId, payee, amount: microUsdc(amount), developerShare: microUsdc(developerShare) });
  }
  add(protocol.credits, protocol.treasury, treasuryShare);
  return { charged: microUsdc(charged), treasuryShare: microUsdc(treasuryShare), failed, refused, paid };
}

function refusalOf(
  { tools }: Protocol,
  { payer }: BatchRow,
  toolIds: readonly ToolId[],
  payees: readonly (Address | null)[],
  { toolIndex, amount }: { toolIndex: number; amount: bigint },
): Refusal {
  const toolId = toolIds[toolIndex] as ToolId;
  const unpaid = tools.has(toolId) ? "under_staked" : "unlisted";
  const reason = payees[toolIndex] === null ? unpaid : "earning_cap";
  return { chargedTo: payer, toolId, amount: microUsdc(amount), reason };
}

// Takes `amount` from a row's payer, or says why that failed.
function charge(
  protocol: Protocol,
  row: BatchRow,
  toolIds: readonly ToolId[],
  amount: bigint,
  timestamp: bigint,
): ChargeFailure | null {
  const { payer, budget } = row;
  if (amount === 0n) return null;
  const cap = protocol.dailyCaps.get(payer);
  const capped = cap !== undefined && cap.cap !== 0n;
  if (capped && amount > leftOf(cap, timestamp)) return "daily_cap";
  const refusal =
    budget === undefined
      ? protocol.consentRequired.has(payer) && "consent_required"
      : drawOnBudget(protocol, row, budget, toolIds, amount, timestamp);
  if (refusal) return refusal;
  const failure = row.prepaid === true ? drawPrepaid(protocol, payer, amount) : transfer(protocol, payer, amount);
  if (failure !== null) {
    if (budget !== undefined) spendOfBudget(protocol, payer, budget.id, -amount);
  } else if (capped) protocol.dailyCaps.set(payer, spend(cap, amount, timestamp));
  return failure;
}

function transfer(protocol: Protocol, payer: Address, amount: bigint): ChargeFailure | null {
  const { allowances, balances, router } = protocol;
  if (tokenUnavailable(protocol)) throw new Revert("TokenUnavailable");
  if (protocol.blacklisted.has(payer)) return "blacklisted";
  if (at(allowances, payer) < amount) return "allowance";
  if (at(balances, payer) < amount) return "balance";
  if (protocol.unexplained.has(payer)) throw new Revert("ChargeUnexplained", payer, amount);
  add(allowances, payer, -amount);
  add(balances, payer, -amount);
  add(balances, router, amount);
  return null;
}

function drawPrepaid(protocol: Protocol, payer: Address, amount: bigint): ChargeFailure | null {
  const before = prepaidOf(protocol, payer);
  if (amount > before.balance) return "prepaid";
  protocol.prepaid.set(payer, { ...before, balance: before.balance - amount });
  return null;
}

// `Budgets._drawOnBudget`: what a newer signature says is kept even if the row then fails.
function drawOnBudget(
  protocol: Protocol,
  { payer, lines }: BatchRow,
  { id, tools = [], signed }: RowBudget,
  toolIds: readonly ToolId[],
  amount: bigint,
  timestamp: bigint,
): ChargeFailure | null {
  const key = budgetKeyOf(payer, id);
  let budget = budgetOf(protocol, payer, id);
  const toolsHash = hashTools(tools);
  const isSigned = ({ maxSpend, validUntil, signature }: NonNullable<typeof signed>) => {
    const terms = { payer, id, maxSpend: microUsdc(maxSpend), validUntil, tools };
    return hasSigned(protocol, payer, budgetDigest({ chainId: CHAIN_ID, router: protocol.router }, terms), signature);
  };
  // `Budgets._whyNot`, of what the chain knows or of what an older signature says.
  const whyNot = ({ maxSpend, validUntil, ...terms }: BudgetOnChain) => {
    if (budget.spent + amount > maxSpend) return "budget_exceeded";
    const end = budget.endsAt !== 0n && budget.endsAt < validUntil ? budget.endsAt : validUntil;
    if (timestamp > end) return "budget_expired";
    const isForLines = lines.every(({ toolIndex }) => tools.includes(toolIds[toolIndex] as ToolId));
    const isForRow = terms.toolsHash === hashTools([]) || (toolsHash === terms.toolsHash && isForLines);
    return isForRow ? null : "budget_tools";
  };
  const isRaised = signed !== undefined && signed.maxSpend > budget.maxSpend;
  if (isRaised) {
    if (!isSigned(signed)) return "budget_forged";
    const { maxSpend, validUntil } = signed;
    budget = { ...budget, maxSpend: microUsdc(maxSpend), validUntil, toolsHash };
    protocol.budgets.set(key, budget);
  }
  let failure: ChargeFailure | null = whyNot(budget);
  if (failure !== null && signed !== undefined && !isRaised) {
    const { maxSpend, validUntil } = signed;
    const older = { ...budget, maxSpend: microUsdc(maxSpend), validUntil, toolsHash };
    failure = budget.spent + amount > maxSpend || isSigned(signed) ? whyNot(older) : "budget_forged";
  }
  if (failure === null) spendOfBudget(protocol, payer, id, amount);
  return failure;
}

export const hasSigned = ({ isSigned, withdrawn }: Protocol, payer: Address, digest: Hex, signature: Hex) =>
  !withdrawn.has(payer) && isSigned(payer, digest, signature);

function spendOfBudget(protocol: Protocol, payer: Address, id: bigint, amount: bigint): void {
  const budget = budgetOf(protocol, payer, id);
  protocol.budgets.set(budgetKeyOf(payer, id), { ...budget, spent: microUsdc(budget.spent + amount) });
}

// `Credits.payout`: pushes what is owed, and keeps what the token refuses to move.
export function payout(protocol: Protocol, accounts: readonly Address[]): void {
  for (const account of accounts) {
    const amount = at(protocol.credits, account);
    const refused = tokenUnavailable(protocol) || protocol.blacklisted.has(account) || account === protocol.router;
    if (amount === 0n || refused) continue;
    protocol.credits.set(account, 0n);
    add(protocol.balances, protocol.router, -amount);
    add(protocol.balances, account, amount);
  }
}
