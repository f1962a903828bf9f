import type { Address } from "viem";
import type { NetResult, OperatorRoom } from "../../domain/batch.ts";
import type { BudgetKey } from "../../domain/budget.ts";
import { isHigh } from "../../domain/credit.ts";
import { formatUsd, larger, microUsdc } from "../../domain/money.ts";
import type { Submission } from "../../domain/submission.ts";
import type { DuePayer, Lease } from "../../ledger/ledger.ts";
import { type EngineContext, type Policy, retryPolicy } from "../context.ts";
import { type Funds, isShort, type Underway, underwayOf } from "./draw.ts";
import { netInSteps } from "./net.ts";
import { operatorRoom } from "./operatorRoom.ts";
import { previousBatch } from "./previousBatch.ts";

// Makes one batch out of what is due, or says that there is nothing to do or a reason to wait.
export async function plan(
  context: EngineContext,
  lease: Lease,
  maxRows: number,
  // Whether to wait until there is enough for a batch that is worth its gas.
  mayWait: boolean,
): Promise<{ kind: "planned"; submission: Submission } | { kind: "nothing_due" } | { kind: "hold"; reason: string }> {
  const { ledger, chain, clock, policy } = context;
  context.reached("before_plan");
  const due = await ledger.listDuePayers(clock.nowMs(), maxRows);
  if (due.length === 0) return { kind: "nothing_due" };
  if (mayWait && isEarly(due, maxRows, policy.batch, clock.nowMs()) && !(await isExposed(context, due))) {
    return { kind: "nothing_due" };
  }
  const accounts = wholeAccounts(due, policy.bounds.maxCharges);
  const underway = await readUnderway(context);
  const budgets = await ledger.listBudgetsDue(accounts);
  const fundsOf = await readFunds(context, accounts, budgets, due);
  // While nobody can be charged, a batch would only be simulated in vain.
  const availability = await chain.availability();
  if (availability.kind === "unavailable") return { kind: "hold", reason: availability.reason };

  const room = await operatorRoom(context, lease.operator);
  if (room.limit === 0n)
    return { kind: "hold", reason: `${lease.operator} is not an operator: it is suspended or was removed` };
  if (!room.bonded)
    return {
      kind: "hold",
      reason: `the bond of ${lease.operator} is less than its limit asks for: bond post adds to it`,
    };

  const previous = await previousBatch(context, lease.operator);
  if (previous === null)
    return { kind: "hold", reason: `the ledger does not know the last batch of ${lease.operator}` };

  const retry = await retryPolicy(context, await ledger.listFailedTools(accounts));
  let netted: NetResult | null = null;
  const domain = { chainId: chain.chainId, router: chain.router };
  const { limit, room: left } = room;
  const bounds = { ...policy.bounds, maxRows, limit, room: left, previous, domain, underway };
  const submission = await ledger.planBatch(
    lease,
    {
      accounts,
      maxCharges: bounds.maxCharges,
      router: chain.router,
      net: async (charges, budgets) => {
        netted = await netInSteps(charges, fundsOf, bounds, budgets);
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
  context.report({ kind: "planned", root: submission.id, operator: lease.operator });
  return { kind: "planned", submission };
}

// What was taken in a batch that is no longer underway may be missing in what an endpoint that lags says. Of whom that is so
// nothing is known now.
async function readFunds(
  { chain, ledger }: EngineContext,
  accounts: readonly Address[],
  budgets: readonly BudgetKey[],
  due: readonly DuePayer[],
): Promise<Map<Address, Funds>> {
  const found = await chain.spendable(accounts, budgets);
  const exposures = await ledger.readExposures(accounts);
  const fresh = found.filter(({ atBlock }, i) => atBlock >= (exposures[i]?.takenAtBlock ?? 0n));
  const dueOf = new Map(due.map(({ chargedTo, amount }) => [chargedTo, amount]));
  const short = fresh.filter((account) => isShort(account, dueOf.get(account.payer) ?? 0n)).map(({ payer }) => payer);
  const refunds = await chain.refunds(short);
  const refundOf = new Map(short.map((payer, i) => [payer, refunds[i]?.amount]));
  return new Map(fresh.map((account) => [account.payer, { ...account, refunding: refundOf.get(account.payer) ?? 0n }]));
}

// Of all keys: they charge the same payers.
async function readUnderway({ ledger }: EngineContext): Promise<Underway> {
  const unmined: Submission[] = [];
  for (const { operator } of await ledger.listOperators()) unmined.push(...(await ledger.listUnmined(operator)));
  return underwayOf(unmined);
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

// A payer costs a batch the same however many charges are netted into its row. So a batch takes everything that is due of
// as many accounts as fit, rather than a little of each; only an account with more than a whole batch is divided, when it is the one that has waited longest.
export function wholeAccounts(due: readonly DuePayer[], maxCharges: number): Address[] {
  const [first] = due;
  if (first !== undefined && first.charges > maxCharges) return [first.chargedTo];
  let charges = 0;
  const fits = due.filter((account) => {
    if (charges + account.charges > maxCharges) return false;
    charges += account.charges;
    return true;
  });
  return fits.map(({ chargedTo }) => chargedTo);
}
