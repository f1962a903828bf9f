import { parseAddress } from "../../command/arguments.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { ROLES } from "../../protocol/description.ts";
import { act } from "../act.ts";

// The roles that can take something.
const SUSPENDABLE = ["adjudicator", "court"] as const;

export default command<CommonArguments & { role: string; account: string }>(async (args, session) => {
  const role = SUSPENDABLE.find((name) => name === args.role);
  if (!role) throw new CommandError(`the role is "${args.role}": name ${SUSPENDABLE.join(" or ")}`);
  const account = parseAddress("the account", args.account);
  const deployment = await openDeployment(session);
  const { manager } = deployment;
  const { since } = await manager.getAccess(ROLES[role], account);
  if (since === 0n) throw new CommandError(`${account} is not ${role}: see role list`);
  await act(session, deployment, {
    sentence: `Suspend the ${role} ${account} at once. Only the admin can bring it back, after its delay.`,
    title: `suspend the ${role}`,
    target: "manager",
    data: manager.interface.encodeFunctionData("suspend", [ROLES[role], account]),
    role: "guardian",
    done: `${account} is no longer ${role}.`,
    document: { role, account },
  });
});
