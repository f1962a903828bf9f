import { command } from "../../../command/command.ts";
import { findTool } from "../../../command/findTool.ts";
import { openDeployment } from "../../../command/openDeployment.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { withLogin } from "../withLogin.ts";
import { showOutcome } from "./showOutcome.ts";

type Arguments = CommonArguments & { tool: string; marketplace: string | undefined };

export default command<Arguments>(async (args, session) => {
  const deployment = await openDeployment(session);
  const { id, uuid } = await findTool(deployment, args.tool);
  const path = `/api/v1/tools/${uuid}/refresh`;
  const { body } = await withLogin(session, args.marketplace, (ask) => ask("POST", path, {}));
  await showOutcome(session, { deployment, id, uuid }, body, "Refreshed: these are the methods now.");
});
