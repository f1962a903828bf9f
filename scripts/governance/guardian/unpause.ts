import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { act } from "../act.ts";

export default command<CommonArguments>(async (_, session) => {
  const deployment = await openDeployment(session);
  await act(session, deployment, {
    sentence: "Let payments go on.",
    title: "unpause",
    target: "router",
    data: deployment.router.interface.encodeFunctionData("unpause"),
    role: "guardian",
    done: "Payments go on.",
    document: { paused: false },
  });
});
