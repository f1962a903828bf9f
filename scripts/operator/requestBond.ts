import { parseAmount, required } from "../command/arguments.ts";
import { command } from "../command/command.ts";
import { formatTime } from "../command/format.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { Row } from "../command/output.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import { operatorOf, readBond, usd } from "./bond.ts";

type Arguments = CommonArguments & { operator: string | undefined; amount: string | undefined };

// `bond request`: what is asked back counts no longer at once, and leaves once no dispute about a batch can be open.
export default command<Arguments>(async (args, session) => {
  const amount = parseAmount("--amount", required("--amount", args.amount));
  const deployment = await openDeployment(session);
  const { bonds, addresses } = deployment;
  const operator = await operatorOf(session, args.operator);
  const { amount: all, required: needed } = await readBond(deployment, operator);
  const left = all - amount;
  const warning: Row[] =
    left >= 0n && left < needed
      ? [["note", `the operator stops settling: ${usd(left)} is below ${usd(needed)} USDC`]]
      : [];
  const receipts = await send(session, {
    sentence: `Ask ${usd(amount)} USDC of the bond of ${operator} back.`,
    rows: warning,
    calls: [
      {
        title: `request ${usd(amount)} USDC`,
        to: addresses.bonds,
        data: bonds.interface.encodeFunctionData("requestWithdrawal", [operator, amount]),
      },
    ],
  });
  const { readyAt, bonded } = await readBond(deployment, operator);
  const outcome =
    amount === 0n
      ? "Nothing of the bond is asked back any more."
      : `${usd(amount)} USDC can be withdrawn from ${formatTime(readyAt)} on: run bond withdraw.`;
  report(session, receipts, outcome, { operator, amountUsd: usd(amount), readyAt: Number(readyAt), bonded });
});
