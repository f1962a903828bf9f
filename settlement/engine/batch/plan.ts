import type { Address } from "viem";
import type { NetResult, OperatorRoom } from "../../domain/batch/batch.ts";
import type { Submission } from "../../domain/batch/submission.ts";
import { formatUsd, larger, microUsdc } from "../../domain/money.ts";
import type { KnownBudget } from "../../domain/payer/budget.ts";
import { creditLimitOf, isHigh } from "../../domain/payer/credit.ts";
import { together } from "../../domain/scheduling/together.ts";
import type { DuePayer, DueRow, Lease } from "../../ledger/ledger.ts";
import { type EngineContext, type Policy, retryPolicy } from "../context.ts";
import { divide, inTurns } from "./divide.ts";
import { coveredOf, type Funds, isShort, type Underway, underwayOf } from "./draw.ts";
import { netInSteps } from "./net.ts";
import { operatorRoom } from "./operatorRoom.ts";
import { previousBatch } from "./previousBatch.ts";

export type Planned =
  | { kind: "planned"; submission: Submission }
  | { kind: "nothing_due" }
  | { kind: "hold"; reason: string };

// Makes one batch out of what is due, or says that there is nothing to do or a reason to wait.
export async function plan(
  context: EngineContext,
  lease: Lease,
  maxRows: number,
  // Whether to wait until there is enough for a batch that is worth its gas.
  mayWait: boolean,
): Promise<Planned> {
  const { ledger, chain, clock, policy } = context;
  context.reached("before_plan");
  const due = await ledger.listDuePayers(clock.nowMs(), maxRows);
  if (due.length === 0) return { kind: "nothing_due" };
  if (mayWait && isEarly(due, maxRows, policy.batch, clock.nowMs()) && !(await isExposed(context, due))) {
    return { kind: "nothing_due" };
  }
  const underway = await readUnderway(context);
  const budgets = await ledger.listBudgetsDue(due.map(({ chargedTo }) => chargedTo));
  const rows = await readRows(context, budgets);
  const shares = divide(inTurns(due, underway.accounts), rows, policy.bounds.maxCharges);
  const accounts = [...shares.accounts, ...shares.parts.map(({ account }) => account)];
  // They do not depend on each other, and each takes a round trip or two.
  const [fundsOf, availability, room, previous] = await together([
    readFunds(context, accounts, budgetsOf(accounts, budgets), due, underway),
    chain.availability(),
    operatorRoom(context, lease.operator),
    previousBatch(context, lease.operator),
  ]);
  // While nobody can be charged, a batch would only be simulated in vain.
  if (availability.kind === "unavailable") return { kind: "hold", reason: availability.reason };
  if (room.limit === 0n)
    return { kind: "hold", reason: `${lease.operator} is not an operator: it is suspended or was removed` };
  if (!room.bonded)
    return {
      kind: "hold",
      reason: `the bond of ${lease.operator} is less than its limit asks for: bond post adds to it`,
    };
  if (previous === null)
    return { kind: "hold", reason: `the ledger does not know the last batch of ${lease.operator}` };

  const isServed = accounts.some((account) => underway.accounts.has(account));
  const retry = await retryPolicy(context, await ledger.listFailedTools(accounts));
  let netted: NetResult | null = null;
  const domain = { chainId: chain.chainId, router: chain.router };
  const { limit, room: left } = room;
  const bounds = { ...policy.bounds, maxRows, limit, room: left, previous, domain, underway };
  const submission = await ledger.planBatch(
    lease,
    {
      ...shares,
      maxCharges: bounds.maxCharges,
      router: chain.router,
      net: async (charges, budgets) => {
        // Whatever bounds a batch, its lines, tools and bytes as well, is divided in the same order.
        const ordered = isServed ? inTurns(charges, underway.accounts) : charges;
        netted = await netInSteps(ordered, fundsOf, bounds, budgets);
        return netted;
      },
      retry,
    },
    clock.nowMs(),
  );
  context.reached("after_plan");
  const held = reportLimit(context, lease.operator, room, netted);
  await setAside(context, lease, netted);
  if (submission === null) return held === null ? { kind: "nothing_due" } : { kind: "hold", reason: held };
  context.report({ kind: "planned", batchId: submission.id, operator: lease.operator });
  return { kind: "planned", submission };
}

// What accounts have. Whoever cannot pay fails now, and after the last time the platform pays instead: so that nobody is believed about that
// alone, each endpoint is asked about those who seem not to be able to pay all, and the one by which they can pay most counts. Whether it is
// right the router then says.
//
// What was taken in a batch that is no longer underway may be missing in what an endpoint that lags says. Of whom that is so
// nothing is known now.
async function readFunds(
  { chain, ledger, policy }: EngineContext,
  accounts: readonly Address[],
  budgets: readonly KnownBudget[],
  due: readonly DuePayer[],
  underway: Underway,
): Promise<Map<Address, Funds>> {
  const dueOf = new Map(due.map(({ chargedTo, amount }) => [chargedTo, amount]));
  const drawnBy = Map.groupBy(budgets, ({ payer }) => payer);
  const ownDue = ({ payer }: Funds) => dueOf.get(payer) ?? 0n;
  const covered = (funds: Funds) => coveredOf(funds, ownDue(funds), drawnBy.get(funds.payer) ?? [], underway);
  const found = await chain.spendable(accounts, budgets);
  const exposures = await ledger.readExposures(accounts);
  const beyond = new Set(
    exposures.flatMap(({ payer, pending, settled }) =>
      pending > creditLimitOf(policy.credit, settled) ? [payer] : [],
    ),
  );
  const asked = found
    .filter((account) => beyond.has(account.payer) || isShort(account, dueOf.get(account.payer) ?? 0n))
    .map(({ payer }) => payer);
  const refunds = await chain.refunds(asked);
  const refundOf = new Map(asked.map((payer, i) => [payer, refunds[i]?.amount]));
  const said = found.map((account) => ({ ...account, refunding: refundOf.get(account.payer) ?? 0n })).map(judged);
  const doubted = said.filter((funds) => covered(funds) < ownDue(funds)).map(({ payer }) => payer);
  if (doubted.length > 0) {
    const byEach = await chain.spendableByEach(doubted, budgetsOf(doubted, budgets));
    said.push(...byEach.flat().map(judged));
  }
  const takenAtBlock = new Map(accounts.map((account, i) => [account, exposures[i]?.takenAtBlock ?? 0n]));
  const fundsOf = new Map<Address, Funds>();
  for (const funds of said) {
    if (funds.atBlock < (takenAtBlock.get(funds.payer) ?? 0n)) continue;
    const before = fundsOf.get(funds.payer);
    if (before === undefined || covered(before) < covered(funds)) fundsOf.set(funds.payer, funds);
  }
  return fundsOf;

  function judged(account: Omit<Funds, "isBeyondCredit">): Funds {
    return { ...account, isBeyondCredit: beyond.has(account.payer) };
  }
}

// Of all keys: they charge the same payers.
async function readUnderway({ ledger }: EngineContext): Promise<Underway & { accounts: ReadonlySet<Address> }> {
  const unmined: Submission[] = [];
  for (const { operator } of await ledger.listOperators()) unmined.push(...(await ledger.listUnmined(operator)));
  return underwayOf(unmined);
}

// How many charges of accounts with budgets are looked at for a batch, and of one of them at the most.
const MAX_LOOKED_AT = 50_000;
const MAX_LOOKED_AT_PER_ACCOUNT = 1_000;

// What the rows of accounts can take that have charges under several budgets, or under one and under none.
async function readRows(
  { ledger, clock, policy }: EngineContext,
  budgets: readonly KnownBudget[],
): Promise<Map<Address, DueRow>> {
  if (budgets.length === 0) return new Map();
  const drawnBy = Map.groupBy(budgets, ({ payer }) => payer);
  const exposures = await ledger.readExposures([...drawnBy.keys()]);
  const accounts = exposures.flatMap(({ payer, pending }) =>
    drawnBy.get(payer)?.some((budget) => budget.pending !== pending) ? [payer] : [],
  );
  if (accounts.length === 0) return new Map();
  const each = Math.max(1, Math.floor(MAX_LOOKED_AT / accounts.length));
  const look = Math.min(each, MAX_LOOKED_AT_PER_ACCOUNT, policy.bounds.maxCharges);
  const rows = await ledger.listDueRows(accounts, clock.nowMs(), look);
  return new Map(rows.map((row) => [row.chargedTo, row]));
}

function budgetsOf(accounts: readonly Address[], budgets: readonly KnownBudget[]): KnownBudget[] {
  const own = new Set(accounts);
  return budgets.filter(({ payer }) => own.has(payer));
}

// Whether what is due is little, and more may come in the meantime. A batch that was too large is made again at once.
function isEarly(
  due: readonly DuePayer[],
  maxRows: number,
  { minCharges, maxWaitMs }: Policy["batch"],
  nowMs: number,
): boolean {
  if (due.length >= maxRows || due.some(({ oldestDueAtMs }) => nowMs - oldestDueAtMs >= maxWaitMs)) return false;
  return due.reduce((sum, { charges }) => sum + charges, 0) < minCharges;
}

// Whether somebody owes so much of its credit that it must not wait for company. Nobody's limit is below that of the unknown.
async function isExposed({ ledger, policy }: EngineContext, due: readonly DuePayer[]): Promise<boolean> {
  const large = due.filter(({ amount }) => isHigh(policy.credit, { exposure: amount, settled: 0n }));
  const exposures = await ledger.readExposures(large.map(({ chargedTo }) => chargedTo));
  return large.some(({ amount }, i) =>
    isHigh(policy.credit, { exposure: amount, settled: exposures[i]?.settled ?? 0n }),
  );
}

// What is above the limit of every key cannot be settled until somebody raises one. It is tried again after a while, and stays
// out of the way of what has waited for less long.
async function setAside(
  { ledger, chain, clock, policy }: EngineContext,
  lease: Lease,
  netted: NetResult | null,
): Promise<void> {
  const aboveLimit = netted?.aboveLimit ?? [];
  if (aboveLimit.length === 0) return;
  let highest = 0n;
  for (const { operator } of await ledger.listOperators()) {
    highest = larger(highest, (await chain.operatorLimit(operator)).limit);
  }
  const hopeless = aboveLimit.filter(({ amount }) => amount > highest);
  if (hopeless.length > 0) await ledger.postponeCharges(lease, hopeless, clock.nowMs() + policy.brokenRowWaitMs);
}

// What the operator's limit keeps from being settled: until it has room again, or until somebody raises it.
function reportLimit(
  { report }: EngineContext,
  operator: Address,
  { limit, room }: OperatorRoom,
  netted: NetResult | null,
): string | null {
  const usd = (amount: bigint) => formatUsd(microUsdc(amount));
  for (const { id, amount } of netted?.aboveLimit ?? []) {
    report({ kind: "above_limit", operator, chargeId: id, amount, limit: microUsdc(limit) });
  }
  if (netted?.waiting == null) return null;
  return `the limit of ${operator} leaves ${usd(room)} of ${usd(limit)} USDC, and ${usd(netted.waiting.amount)} is due`;
}
