import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import type { Deployment } from "../../command/openDeployment.ts";
import type { Row } from "../../command/output.ts";
import { type Session, timeOf } from "../../command/session.ts";
import { approvalCalls } from "../../command/transaction/approval.ts";
import { type Demanded, demandEach } from "../../command/transaction/demandEach.ts";
import { send } from "../../command/transaction/send.ts";
import type { Call } from "../../command/transaction/simulate.ts";
import type { SeenRow, Sight } from "./look.ts";
import { callOf, proveDouble } from "./proveDouble.ts";

const usd = (amount: bigint) => `${formatUsd(microUsdc(amount))} USDC`;

// What decides whether something is demanded: how long the court hears a contest and what it costs, how long a marketplace may be
// silent, and what is worth demanding.
export type Terms = { contest: bigint; deposit: bigint; patience: bigint; least: bigint };

// Whether a row is to be contested now. Receipts that do not fit are a reason at once. A marketplace that says nothing may be
// away for an hour, and the operator would get the deposit: that becomes a reason when it has lasted.
export function isContestable(row: SeenRow, now: bigint, { contest, patience, least }: Terms): boolean {
  if (row.stage !== "none" || row.charged < least || now >= row.settledAt + contest) return false;
  if (row.silent !== null) return now >= row.settledAt + patience;
  return row.findings.some(({ contestable }) => contestable);
}

// Does what there is to do at the court for a payer. It contests first, which has the shortest time, as much as there are deposits
// for; then it proves and collects, and contests the rest with what that has brought.
export async function act(
  session: Session,
  deployment: Deployment,
  payer: string,
  sight: Sight,
  terms: Terms,
): Promise<Demanded> {
  const { address } = await session.signer();
  const now = await timeOf(session);
  const wanted = sight.rows
    .filter((row) => isContestable(row, now, terms))
    .toSorted((one, other) => Number(other.charged - one.charged));
  const count = await affordable(deployment, address, terms);
  const contested = await contestRows(session, deployment, payer, wanted.slice(0, count), terms);
  const provable = sight.doubles.filter(({ state }) => state === "provable");
  const proven = await demandEach(provable, (double) => demand(session, payer, proveDouble(deployment, double)));
  const due = sight.rows.filter((row) => isDue(row, now));
  const collected = await demandEach(due, (row) => collect(session, deployment, payer, row));
  const paidOut = await payOut(session, deployment, [payer, address]);
  // At least one, so that whoever has too little for any is told.
  const rest = wanted.slice(count, count + Math.max(1, await affordable(deployment, address, terms)));
  const later = await contestRows(session, deployment, payer, rest, terms);
  const all = [contested, proven, collected, paidOut, later];
  return { sent: all.reduce((sum, { sent }) => sum + sent, 0), failed: all.flatMap(({ failed }) => failed) };
}

const demand = (session: Session, payer: string, calls: readonly Call[], rows: Row[] = []) =>
  send(session, { sentence: `Demand for ${payer} what was charged wrongly.`, rows, calls });

// How many contests there is money for. The others have their turn when a deposit has come back.
const affordable = async ({ usdc }: Deployment, account: string, { deposit }: Terms): Promise<number> =>
  Number((await usdc.balanceOf(account)) / deposit);

async function contestRows(
  session: Session,
  deployment: Deployment,
  payer: string,
  rows: readonly SeenRow[],
  { deposit }: Terms,
): Promise<Demanded> {
  const { address } = await session.signer();
  const { receiptCourt, addresses } = deployment;
  let left = rows.length;
  return demandEach(rows, async ({ batchId, settlement, charged }) => {
    // Approved at once for all that are still to come.
    const deposits = microUsdc(deposit * BigInt(left--));
    const calls = [
      ...(await approvalCalls(deployment, address, addresses.bonds, deposits)),
      callOf(
        deployment,
        `contest ${usd(charged)} of batch ${batchId}`,
        receiptCourt.interface.encodeFunctionData("contest", [settlement, payer]),
      ),
    ];
    await demand(session, payer, calls, [
      ["deposit", `${usd(deposit)}, which comes back if the operator has no receipts`],
    ]);
  });
}

// Whether a row has something to collect: nobody has answered, or the bond could not pay all of it.
const isDue = ({ stage, until, owed }: SeenRow, now: bigint) =>
  (stage === "contested" && now >= until) || (stage === "refunded" && owed > 0n);

async function collect(
  session: Session,
  deployment: Deployment,
  payer: string,
  { batchId, stage }: SeenRow,
): Promise<void> {
  const { receiptCourt } = deployment;
  // What is owed is asked for when there is something to be had.
  const amount = await receiptCourt.refund.staticCall(batchId, payer);
  if (stage === "refunded" && amount === 0n) return;
  const data = receiptCourt.interface.encodeFunctionData("refund", [batchId, payer]);
  await demand(session, payer, [callOf(deployment, `collect ${usd(amount)} of batch ${batchId}`, data)]);
}

// Sends on what the court has credited, to the payer and to whoever acts for it.
async function payOut(session: Session, { bonds, addresses }: Deployment, accounts: string[]): Promise<Demanded> {
  const credits = await Promise.all(
    [...new Set(accounts)].map(async (account) => [account, await bonds.creditOf(account)] as const),
  );
  const credited = credits.filter(([, amount]) => amount > 0n);
  if (credited.length === 0) return { sent: 0, failed: [] };
  const total = usd(credited.reduce((sum, [, amount]) => sum + amount, 0n));
  const call: Call = {
    title: `pay out ${total}`,
    to: addresses.bonds,
    data: bonds.interface.encodeFunctionData("payout", [credited.map(([account]) => account)]),
  };
  return demandEach([call], () =>
    send(session, { sentence: `Collect ${total} that the court has given back.`, calls: [call] }),
  );
}
