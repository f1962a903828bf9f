import { command } from "../../command/command.ts";
import { findTool } from "../../command/findTool.ts";
import { openDeployment } from "../../command/openDeployment.ts";
import type { CommonArguments } from "../../command/session.ts";
import { showOutcome } from "./showOutcome.ts";
import { withLogin } from "./withLogin.ts";

type Arguments = CommonArguments & { tool: string; marketplace: string | undefined };

export default command<Arguments>(async (args, session) => {
  const { uuid } = await findTool(await openDeployment(session), args.tool);
  const path = `/api/v1/tools/${uuid}/refresh`;
  const { body } = await withLogin(session, args.marketplace, (ask) => ask("POST", path, {}));
  showOutcome(session, uuid, body, "Refreshed: these are the methods now.");
});
