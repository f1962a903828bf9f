import { command } from "../../../command/command.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { accountFrom, showFavorites } from "../account.ts";
import { toolIdOf } from "../toolIdOf.ts";
import { withLogin } from "../withLogin.ts";

type Arguments = CommonArguments & { tool: string; marketplace: string | undefined };

export default command<Arguments>(async (args, session) => {
  const path = `/api/v1/favorites?toolId=${toolIdOf(args.tool)}`;
  const { body } = await withLogin(session, args.marketplace, (ask) => ask("DELETE", path));
  showFavorites(session, accountFrom(body));
});
