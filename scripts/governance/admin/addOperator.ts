import { formatUsd } from "../../../settlement/domain/money.ts";
import { parseAddress, requiredAmount } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { ROLES } from "../../protocol/description.ts";
import { setOperatorLimit } from "./setOperatorLimit.ts";

export default command<CommonArguments & { operator: string; limit: string | undefined }>(async (args, session) => {
  const operator = parseAddress("the operator", args.operator);
  const limit = requiredAmount("--limit", args.limit);
  const deployment = await openDeployment(session);
  const { limit: current } = await deployment.router.operatorLimit(operator);
  if (current > 0n) throw new CommandError(`${operator} is an operator already: run operator limit`);
  for (const [role, id] of Object.entries(ROLES)) {
    const { since } = await deployment.manager.getAccess(id, operator);
    if (since !== 0n) throw new CommandError(`${operator} is ${role}, who checks operators: name another account`);
  }
  if (limit === 0n) throw new CommandError("an operator with a limit of 0 is none: name a limit");
  const sentence = `Let ${operator} settle up to ${formatUsd(limit)} USDC in any 24 hours.`;
  await setOperatorLimit(session, deployment, operator, limit, sentence);
});
