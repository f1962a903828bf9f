import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import type { Deployment } from "../../command/openDeployment.ts";
import type { Row } from "../../command/output.ts";
import { type Session, timeOf } from "../../command/session.ts";
import { approvalCalls } from "../../command/transaction/approval.ts";
import { send } from "../../command/transaction/send.ts";
import type { Call } from "../../command/transaction/simulate.ts";
import type { SeenRow, Sight } from "./look.ts";
import { callOf, proveDouble } from "./proveDouble.ts";

const usd = (amount: bigint) => `${formatUsd(microUsdc(amount))} USDC`;

export type Windows = { contest: bigint; deposit: bigint; patience: bigint };

// Whether a row is to be contested now. Receipts that do not fit are a reason at once. A marketplace that says nothing may be
// away for an hour, and the operator would get the deposit: that becomes a reason when it has lasted.
export function isContestable(row: SeenRow, now: bigint, { contest, patience }: Windows): boolean {
  if (row.stage !== "none" || now >= row.settledAt + contest) return false;
  if (row.silent !== null) return now >= row.settledAt + patience;
  return row.findings.some(({ contestable }) => contestable);
}

// Does what there is to do at the court for a payer: proves and collects, and contests with what that has brought. Returns how many
// transactions it took.
export async function act(
  session: Session,
  deployment: Deployment,
  payer: string,
  sight: Sight,
  windows: Windows,
): Promise<number> {
  const { address } = await session.signer();
  const now = await timeOf(session);
  // What costs no deposit comes first: whoever has lost all but what is owed can pay for a contest with it.
  const collected = await demand(session, payer, [
    ...sight.doubles.filter(({ state }) => state === "provable").flatMap((double) => proveDouble(deployment, double)),
    ...(await refundsOf(deployment, payer, sight, now)),
  ]);
  const paidOut = await payOut(session, deployment, [payer, address]);
  const wanted = sight.rows.filter((row) => isContestable(row, now, windows));
  const contests = (await affordable(deployment, address, wanted, windows)).map(({ batchId, settlement, charged }) =>
    callOf(
      deployment,
      `contest ${usd(charged)} of batch ${batchId}`,
      deployment.receiptCourt.interface.encodeFunctionData("contest", [settlement, payer]),
    ),
  );
  if (contests.length === 0) return collected + paidOut;
  const deposits = microUsdc(windows.deposit * BigInt(contests.length));
  const approvals = await approvalCalls(deployment, address, deployment.addresses.bonds, deposits);
  const rows: Row[] = [["deposit", `${usd(deposits)}, which comes back if the operator has no receipts`]];
  return collected + paidOut + (await demand(session, payer, [...approvals, ...contests], rows));
}

async function demand(session: Session, payer: string, calls: readonly Call[], rows: Row[] = []): Promise<number> {
  if (calls.length > 0) {
    await send(session, { sentence: `Demand for ${payer} what was charged wrongly.`, rows, calls });
  }
  return calls.length;
}

// The largest first, as many as there is money for; the others have their turn when a deposit has come back. At least one, so that
// whoever has too little for any is told.
async function affordable(
  { usdc }: Deployment,
  account: string,
  rows: readonly SeenRow[],
  { deposit }: Windows,
): Promise<SeenRow[]> {
  if (rows.length === 0) return [];
  const count = Number((await usdc.balanceOf(account)) / deposit);
  return rows.toSorted((one, other) => Number(other.charged - one.charged)).slice(0, Math.max(1, count));
}

async function refundsOf(deployment: Deployment, payer: string, { rows }: Sight, now: bigint): Promise<Call[]> {
  const { receiptCourt } = deployment;
  const calls: Call[] = [];
  for (const { batchId, stage, until, owed } of rows) {
    if (!((stage === "contested" && now >= until) || (stage === "refunded" && owed > 0n))) continue;
    // What is owed is asked for when there is something to be had.
    const amount = await receiptCourt.refund.staticCall(batchId, payer);
    if (stage === "refunded" && amount === 0n) continue;
    const data = receiptCourt.interface.encodeFunctionData("refund", [batchId, payer]);
    calls.push(callOf(deployment, `collect ${usd(amount)} of batch ${batchId}`, data));
  }
  return calls;
}

// Sends on what the court has credited, to the payer and to whoever acts for it.
async function payOut(session: Session, { bonds, addresses }: Deployment, accounts: string[]): Promise<number> {
  const credits = await Promise.all(
    [...new Set(accounts)].map(async (account) => [account, await bonds.creditOf(account)] as const),
  );
  const credited = credits.filter(([, amount]) => amount > 0n);
  if (credited.length === 0) return 0;
  const total = usd(credited.reduce((sum, [, amount]) => sum + amount, 0n));
  await send(session, {
    sentence: `Collect ${total} that the court has given back.`,
    calls: [
      {
        title: `pay out ${total}`,
        to: addresses.bonds,
        data: bonds.interface.encodeFunctionData("payout", [credited.map(([account]) => account)]),
      },
    ],
  });
  return 1;
}
