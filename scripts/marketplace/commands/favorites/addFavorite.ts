import { command } from "../../../command/command.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { accountFrom, showFavorites } from "../account.ts";
import { toolIdOf } from "../toolIdOf.ts";
import { withLogin } from "../withLogin.ts";

type Arguments = CommonArguments & { tool: string; marketplace: string | undefined };

export default command<Arguments>(async (args, session) => {
  const toolId = toolIdOf(args.tool);
  const { body } = await withLogin(session, args.marketplace, async (ask) => {
    // Whoever mistypes an id hears of it now, and not from searches that find nothing.
    await ask("GET", `/api/v1/tools/${toolId}`);
    return ask("POST", "/api/v1/favorites", { toolId });
  });
  showFavorites(session, accountFrom(body));
});
