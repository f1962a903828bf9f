import { microUsdc } from "../../settlement/domain/money.ts";
import { parseAmount } from "../command/arguments.ts";
import { CommandError } from "../command/CommandError.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { approvalCalls } from "../command/transaction/approval.ts";
import { report, send } from "../command/transaction/send.ts";
import { operatorOf, readBond, usd } from "./bond.ts";

type Arguments = CommonArguments & { operator: string | undefined; amount: string | undefined };

// `bond post`: adds to a bond, by default what is missing for the operator's limit.
export default command<Arguments>(async (args, session) => {
  const deployment = await openDeployment(session);
  const { bonds, addresses } = deployment;
  const operator = await operatorOf(session, args.operator);
  const before = await readBond(deployment, operator);
  const missing = before.required - (before.amount - before.leaving);
  if (args.amount === undefined && missing <= 0n) {
    throw new CommandError(`the bond of ${operator} is enough for its limit: name an --amount to add to it`);
  }
  const amount = args.amount === undefined ? microUsdc(missing) : parseAmount("--amount", args.amount);
  const from = (await session.signer()).address;
  const receipts = await send(session, {
    sentence: `Add ${usd(amount)} USDC to the bond of ${operator}.`,
    calls: [
      ...(await approvalCalls(deployment, from, addresses.bonds, amount)),
      {
        title: `post ${usd(amount)} USDC`,
        to: addresses.bonds,
        data: bonds.interface.encodeFunctionData("post", [operator, amount]),
      },
    ],
  });
  const { amount: all, leaving, bonded } = await readBond(deployment, operator);
  const pledged = usd(all - leaving);
  report(session, receipts, `The bond is now ${pledged} USDC, ${bonded ? "enough" : "not enough"} to settle.`, {
    operator,
    pledgedUsd: pledged,
    bonded,
  });
});
