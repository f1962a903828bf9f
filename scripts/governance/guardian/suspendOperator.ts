import { parseAddress } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { act } from "../act.ts";

export default command<CommonArguments & { operator: string }>(async (args, session) => {
  const operator = parseAddress("the operator", args.operator);
  const deployment = await openDeployment(session);
  const { limit } = await deployment.router.operatorLimit(operator);
  if (limit === 0n) throw new CommandError(`${operator} is not an operator`);
  await act(session, deployment, {
    sentence: `Suspend ${operator} at once. Only the admin can bring it back, after its delay.`,
    title: "suspend the operator",
    target: "router",
    data: deployment.router.interface.encodeFunctionData("suspendOperator", [operator]),
    role: "guardian",
    done: `${operator} can no longer settle.`,
    document: { operator, limitUsd: "0.00" },
  });
});
