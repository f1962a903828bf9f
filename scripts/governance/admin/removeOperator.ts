import { microUsdc } from "../../../settlement/domain/money.ts";
import { parseAddress } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { setOperatorLimit } from "./setOperatorLimit.ts";

export default command<CommonArguments & { operator: string }>(async (args, session) => {
  const operator = parseAddress("the operator", args.operator);
  const deployment = await openDeployment(session);
  const { limit } = await deployment.router.operatorLimit(operator);
  if (limit === 0n) throw new CommandError(`${operator} is not an operator`);
  const sentence = `End what ${operator} may settle. In an emergency the guardian does it at once: operator suspend.`;
  await setOperatorLimit(session, deployment, operator, microUsdc(0n), sentence);
});
