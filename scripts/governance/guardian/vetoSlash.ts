import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { CommandError } from "../../command/CommandError.ts";
import { command } from "../../command/command.ts";
import { findTool } from "../../command/findTool.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { act } from "../act.ts";

// `slash veto`: the veto names the terms that were read here, so that it cannot hit others that take their place.
export default command<CommonArguments & { tool: string }>(async (args, session) => {
  const deployment = await openDeployment(session);
  const { id, uuid } = await findTool(deployment, args.tool);
  const { termsHash, amount, expiresAt } = await deployment.staking.slashOf(id);
  if (expiresAt === 0n) throw new CommandError(`no slash of tool ${uuid} has been proposed: there is nothing to veto`);
  const days = (await deployment.staking.VETO_COOLDOWN()) / 86_400n;
  await act(session, deployment, {
    sentence: `Veto the proposed slash of ${formatUsd(microUsdc(amount))} USDC of tool ${uuid}. None can be proposed for ${days} days.`,
    rows: [["terms", termsHash]],
    title: "veto the slash",
    target: "staking",
    data: deployment.staking.interface.encodeFunctionData("vetoSlash", [id, termsHash]),
    role: "guardian",
    done: `Vetoed. The tool's withdrawals go on, and no slash of it can be proposed for ${days} days.`,
    document: { tool: uuid, termsHash },
  });
});
