import type { Address, Hex } from "viem";
import { decodeRows, type Row } from "../../settlement/chain/encodeRows.ts";
import type { BatchOutcome, ChargeFailure } from "../../settlement/domain/batch.ts";
import { microUsdc } from "../../settlement/domain/money.ts";
import { splitRevenue } from "../../settlement/domain/split.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import { leftOf, type RollingLimit, spend } from "./rollingLimit.ts";

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
  routerPaused: boolean;
  settledAt: Map<Hex, bigint>;
  operatorLimits: Map<Address, RollingLimit>;
  dailyCaps: Map<Address, RollingLimit>;
  credits: Map<Address, bigint>;
  // Payers whom the token refuses for a reason that it does not give. The token of today has no such case.
  unexplained: Set<Address>;
};

export type Refusal = BatchOutcome["refused"][number] & { reason: "unlisted" | "under_staked" };

export type Settled = Omit<BatchOutcome, "refused"> & { refused: readonly Refusal[] };

// A revert undoes everything: whoever gets one throws the state away that it worked on.
export type Reverted = { kind: "reverted"; error: string; args: readonly (string | bigint)[] };

export type SettleResult = { kind: "settled"; outcome: Settled } | Reverted;

const MINIMUM_STAKE = 10_000_000n;
const STAKE_MULTIPLIER = 100n;
const NO_ROOT: Hex = `0x${"0".repeat(64)}`;

export function copyOf(protocol: Protocol): Protocol {
  return {
    ...protocol,
    blacklisted: new Set(protocol.blacklisted),
    balances: new Map(protocol.balances),
    allowances: new Map(protocol.allowances),
    tools: new Map(protocol.tools),
    settledAt: new Map(protocol.settledAt),
    operatorLimits: new Map(protocol.operatorLimits),
    dailyCaps: new Map(protocol.dailyCaps),
    credits: new Map(protocol.credits),
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

export function spendableOf(protocol: Protocol, payer: Address, timestamp: bigint) {
  const balance = at(protocol.balances, payer);
  const allowance = at(protocol.allowances, payer);
  const cap = protocol.dailyCaps.get(payer);
  const dailyCapLeft = cap === undefined || cap.cap === 0n ? 2n ** 256n - 1n : leftOf(cap, timestamp);
  const least = [balance, allowance, dailyCapLeft].reduce((a: bigint, b: bigint) => (a < b ? a : b));
  const amount = tokenUnavailable(protocol) || protocol.blacklisted.has(payer) ? 0n : least;
  return { payer, amount: microUsdc(amount), balance: microUsdc(balance), allowance, dailyCapLeft };
}

class Revert extends Error {
  readonly reverted: Reverted;

  constructor(error: string, ...args: (string | bigint)[]) {
    super(error);
    this.reverted = { kind: "reverted", error, args };
  }
}

export type SettleCall = { operator: Address; root: Hex; toolIds: readonly ToolId[]; rows: Hex; timestamp: bigint };

// `ContextRouter.settle`, on a state that the caller throws away after a revert.
export function settle(protocol: Protocol, call: SettleCall): SettleResult {
  try {
    return { kind: "settled", outcome: settleOrRevert(protocol, call) };
  } catch (error) {
    if (error instanceof Revert) return error.reverted;
    throw error;
  }
}

function settleOrRevert(protocol: Protocol, { operator, root, toolIds, rows, timestamp }: SettleCall): Settled {
  if (protocol.routerPaused) throw new Revert("EnforcedPause");
  const limit = protocol.operatorLimits.get(operator);
  if (limit === undefined || limit.cap === 0n) throw new Revert("NotOperator", operator);
  if (root === NO_ROOT || rows === "0x") throw new Revert("EmptyBatch");
  const before = at(protocol.settledAt, root);
  if (before !== 0n) throw new Revert("BatchAlreadySettled", root, before);
  protocol.settledAt.set(root, timestamp);

  const payees = toolIds.map((toolId) => payeeOf(protocol, toolId));
  const earned = toolIds.map(() => 0n);
  const failed: Settled["failed"][number][] = [];
  const refused: Refusal[] = [];
  let charged = 0n;
  let treasuryShare = 0n;
  for (const row of decodeRows(rows)) {
    const total = totalOf(row, payees);
    if (row.lines.some(({ toolIndex, amount }) => payees[toolIndex] === null && amount > 0n)) {
      refused.push(...refusalsOf(protocol, row, toolIds, payees));
    }
    const reason = charge(protocol, row.payer, total, timestamp);
    if (reason !== null) {
      failed.push({ chargedTo: row.payer, amount: microUsdc(total), reason });
      continue;
    }
    charged += total;
    treasuryShare += row.modelCost;
    for (const { toolIndex, amount } of row.lines) {
      if (payees[toolIndex] !== null) earned[toolIndex] = (earned[toolIndex] ?? 0n) + amount;
    }
  }

  const left = leftOf(limit, timestamp);
  if (charged > left) throw new Revert("OperatorLimitExceeded", charged, left);
  protocol.operatorLimits.set(operator, spend(limit, charged, timestamp));

  const paid: Settled["paid"][number][] = [];
  for (const [index, toolId] of toolIds.entries()) {
    const amount = earned[index] ?? 0n;
    const payee = payees[index] ?? null;
    if (amount === 0n || payee === null) continue;
    const { developerShare, protocolShare } = splitRevenue(amount);
    add(protocol.credits, payee, developerShare);
    treasuryShare += protocolShare;
    paid.push({ toolId, payee, amount: microUsdc(amount), developerShare: microUsdc(developerShare) });
  }
  add(protocol.credits, protocol.treasury, treasuryShare);
  return { charged: microUsdc(charged), treasuryShare: microUsdc(treasuryShare), failed, refused, paid };
}

// What a row asks for, without the lines of tools that may not be paid.
function totalOf({ modelCost, lines }: Row, payees: readonly (Address | null)[]): bigint {
  let total = modelCost;
  for (const { toolIndex, amount } of lines) {
    if (toolIndex >= payees.length) {
      throw new Revert("ToolIndexOutOfRange", BigInt(toolIndex), BigInt(payees.length));
    }
    if (payees[toolIndex] !== null) total += amount;
  }
  return total;
}

function refusalsOf(
  { tools }: Protocol,
  { payer, lines }: Row,
  toolIds: readonly ToolId[],
  payees: readonly (Address | null)[],
): Refusal[] {
  return lines.flatMap(({ toolIndex, amount }) => {
    const toolId = toolIds[toolIndex];
    if (toolId === undefined || payees[toolIndex] !== null) return [];
    const reason = tools.has(toolId) ? "under_staked" : "unlisted";
    return [{ chargedTo: payer, toolId, amount: microUsdc(amount), reason } as const];
  });
}

// Takes `amount` from `payer`, or says why that failed.
function charge(protocol: Protocol, payer: Address, amount: bigint, timestamp: bigint): ChargeFailure | null {
  if (amount === 0n) return null;
  const cap = protocol.dailyCaps.get(payer);
  const capped = cap !== undefined && cap.cap !== 0n;
  if (capped && amount > leftOf(cap, timestamp)) return "daily_cap";
  const { allowances, balances, router } = protocol;
  if (tokenUnavailable(protocol)) throw new Revert("TokenUnavailable");
  if (protocol.blacklisted.has(payer)) return "blacklisted";
  if (at(allowances, payer) < amount) return "allowance";
  if (at(balances, payer) < amount) return "balance";
  if (protocol.unexplained.has(payer)) throw new Revert("ChargeUnexplained", payer, amount);
  add(allowances, payer, -amount);
  add(balances, payer, -amount);
  add(balances, router, amount);
  if (capped) protocol.dailyCaps.set(payer, spend(cap, amount, timestamp));
  return null;
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
