import { command } from "../../command/command.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { act } from "../act.ts";

export default command<CommonArguments>(async (_, session) => {
  const deployment = await openDeployment(session);
  await act(session, deployment, {
    sentence: "Stop all payments at once. Claims and withdrawals go on.",
    title: "pause",
    target: "router",
    data: deployment.router.interface.encodeFunctionData("pause"),
    role: "guardian",
    done: "Payments are paused.",
    document: { paused: true },
  });
});
