import { requiredAddress } from "../command/arguments.ts";
import { command } from "../command/command.ts";
import { openDeployment } from "../command/openDeployment.ts";
import type { CommonArguments } from "../command/session.ts";
import { report, send } from "../command/transaction/send.ts";
import { operatorOf } from "./bond.ts";

type Arguments = CommonArguments & { operator: string | undefined; to: string | undefined };

// `bond owner`: keeps a bond out of reach of the operator's hot key.
export default command<Arguments>(async (args, session) => {
  const owner = requiredAddress("--to", args.to);
  const { bonds, addresses } = await openDeployment(session);
  const operator = await operatorOf(session, args.operator);
  const receipts = await send(session, {
    sentence: `Let ${owner} alone add to the bond of ${operator} and take it back.`,
    calls: [
      {
        title: "name the owner",
        to: addresses.bonds,
        data: bonds.interface.encodeFunctionData("nameOwner", [operator, owner]),
      },
    ],
  });
  report(session, receipts, `The bond of ${operator} belongs to ${owner}.`, { operator, owner });
});
