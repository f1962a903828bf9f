import { formatUsd, type MicroUsdc, microUsdc } from "../../../settlement/domain/money.ts";
import { CommandError } from "../../command/CommandError.ts";
import type { Deployment } from "../../command/openDeployment.ts";
import type { Session } from "../../command/session.ts";
import { act } from "../act.ts";

// What adding, limiting and removing an operator have in common: on chain they are one call.
export async function setOperatorLimit(
  session: Session,
  deployment: Deployment,
  operator: string,
  limit: MicroUsdc,
  sentence: string,
): Promise<void> {
  // The contract enforces this too, but only when the operation is executed, days after it was scheduled.
  const highest = microUsdc(await deployment.router.MAX_OPERATOR_LIMIT());
  if (limit > highest) {
    throw new CommandError(`the highest possible limit is ${formatUsd(highest)} USDC: name a lower one`);
  }
  await act(session, deployment, {
    sentence,
    title: limit === 0n ? "remove the operator" : `set the operator's limit to ${formatUsd(limit)} USDC`,
    target: "router",
    data: deployment.router.interface.encodeFunctionData("setOperatorLimit", [operator, limit]),
    role: "admin",
    done: `The limit of ${operator} is now ${formatUsd(limit)} USDC in any 24 hours.`,
    document: { operator, limitUsd: formatUsd(limit) },
  });
}
