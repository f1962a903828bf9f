import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { parseAddress, requiredAmount } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { setOperatorLimit } from "./setOperatorLimit.ts";

export default command<CommonArguments & { operator: string; limit: string | undefined }>(async (args, session) => {
  const operator = parseAddress("the operator", args.operator);
  const limit = requiredAmount("--limit", args.limit);
  const deployment = await openDeployment(session);
  const { limit: current } = await deployment.router.operatorLimit(operator);
  if (current === 0n) throw new CommandError(`${operator} is not an operator: run operator add`);
  if (limit === 0n) throw new CommandError("a limit of 0 ends the operator: run operator remove");
  const sentence = `Change the limit of ${operator} from ${formatUsd(microUsdc(current))} to ${formatUsd(limit)} USDC in any 24 hours.`;
  await setOperatorLimit(session, deployment, operator, limit, sentence);
});
