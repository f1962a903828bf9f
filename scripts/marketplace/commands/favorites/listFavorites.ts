import { command } from "../../../command/command.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { accountFrom, showFavorites } from "../account.ts";
import { withLogin } from "../withLogin.ts";

type Arguments = CommonArguments & { marketplace: string | undefined };

export default command<Arguments>(async (args, session) => {
  const { body } = await withLogin(session, args.marketplace, (ask) => ask("GET", "/api/v1/account"));
  showFavorites(session, accountFrom(body));
});
