import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import type { Deployment } from "../../command/openDeployment.ts";
import { type Session, timeOf } from "../../command/session.ts";
import { approvalCalls } from "../../command/transaction/approval.ts";
import { send } from "../../command/transaction/send.ts";
import type { Call } from "../../command/transaction/simulate.ts";
import { paidCharge, type SeenRow, type Sight } from "./look.ts";

const usd = (amount: bigint) => `${formatUsd(microUsdc(amount))} USDC`;

export type Windows = { contest: bigint; deposit: bigint; patience: bigint };

// Whether a row is to be contested now. Receipts that do not fit are a reason at once. A marketplace that says nothing may be
// away for an hour, and the operator would get the deposit: that becomes a reason when it has lasted.
export function isContestable(row: SeenRow, now: bigint, { contest, patience }: Windows): boolean {
  if (row.stage !== "none" || now >= row.settledAt + contest) return false;
  if (row.silent !== null) return now >= row.settledAt + patience;
  return row.findings.some(({ contestable }) => contestable);
}

// Does what there is to do at the court for a payer: contests, proves, collects. Returns how many transactions that took.
export async function act(
  session: Session,
  deployment: Deployment,
  payer: string,
  sight: Sight,
  windows: Windows,
): Promise<number> {
  const { receiptCourt, addresses } = deployment;
  const court = receiptCourt.interface;
  const [now, signer] = [await timeOf(session), await session.signer()];
  const callOf = (title: string, data: string): Call => ({ title, to: addresses.receiptCourt, data });
  const contested = sight.rows.filter((row) => isContestable(row, now, windows));
  const ended = sight.rows.filter(
    ({ stage, until, owed }) => (stage === "contested" && now >= until) || (stage === "refunded" && owed > 0n),
  );
  const contests = contested.map(({ root, settlement, charged }) =>
    callOf(`contest ${usd(charged)} of batch ${root}`, court.encodeFunctionData("contest", [settlement, payer])),
  );
  const proofs = sight.doubles
    .filter(({ state }) => state === "provable")
    .map(({ chargeId, kept, doubled }) =>
      callOf(
        `prove that charge ${chargeId} was paid twice`,
        court.encodeFunctionData("proveDoubleCharge", [paidCharge(kept), paidCharge(doubled)]),
      ),
    );
  const refunds: Call[] = [];
  for (const { root, stage } of ended) {
    // What is owed is asked for when there is something to be had.
    const amount = await receiptCourt.refund.staticCall(root, payer);
    if (stage === "refunded" && amount === 0n) continue;
    refunds.push(callOf(`collect ${usd(amount)} of batch ${root}`, court.encodeFunctionData("refund", [root, payer])));
  }
  const deposits = windows.deposit * BigInt(contests.length);
  const approvals =
    deposits === 0n ? [] : await approvalCalls(deployment, signer.address, addresses.bonds, microUsdc(deposits));
  const calls = [...approvals, ...contests, ...proofs, ...refunds];
  if (calls.length > 0) {
    await send(session, {
      sentence: `Demand for ${payer} what was charged wrongly.`,
      ...(deposits > 0n && {
        rows: [["deposit", `${usd(deposits)}, which comes back if the operator has no receipts`]],
      }),
      calls,
    });
  }
  return calls.length + (await payOut(session, deployment, [payer, signer.address]));
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
