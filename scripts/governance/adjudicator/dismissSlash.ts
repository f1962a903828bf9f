import { command } from "../../command/command.ts";
import { findTool } from "../../command/findTool.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { act } from "../act.ts";

export default command<CommonArguments & { tool: string }>(async (args, session) => {
  const deployment = await openDeployment(session);
  const { id, uuid } = await findTool(deployment, args.tool);
  await act(session, deployment, {
    sentence: `Drop the proposed slash of tool ${uuid}.`,
    title: "dismiss the slash",
    target: "staking",
    data: deployment.staking.interface.encodeFunctionData("dismissSlash", [id]),
    role: "adjudicator",
    done: "Dropped. The tool's withdrawals go on.",
    document: { tool: uuid },
  });
});
