import { parseAddress } from "../command/arguments.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import { operatorOf, readBond, usd } from "./bond.ts";

type Arguments = CommonArguments & { operator: string | undefined; to: string | undefined };

export default command<Arguments>(async (args, session) => {
  const deployment = await openDeployment(session);
  const { bonds, addresses } = deployment;
  const operator = await operatorOf(session, args.operator);
  const to = args.to === undefined ? (await session.signer()).address : parseAddress("--to", args.to);
  const amount = usd((await readBond(deployment, operator)).leaving);
  const receipts = await send(session, {
    sentence: `Withdraw ${amount} USDC of the bond of ${operator} to ${to}.`,
    calls: [
      {
        title: "withdraw",
        to: addresses.bonds,
        data: bonds.interface.encodeFunctionData("withdraw", [operator, to]),
      },
    ],
  });
  report(session, receipts, `${amount} USDC were sent to ${to}.`, { operator, to, amountUsd: amount });
});
