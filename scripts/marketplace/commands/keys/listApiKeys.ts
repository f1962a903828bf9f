import { command } from "../../../command/command.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { withLogin } from "../withLogin.ts";
import { apiKeyFrom } from "./apiKey.ts";

type Arguments = CommonArguments & { marketplace: string | undefined };

export default command<Arguments>(async (args, session) => {
  const { body } = await withLogin(session, args.marketplace, (ask) => ask("GET", "/api/v1/keys"));
  const keys = (body.keys as Record<string, unknown>[]).map(apiKeyFrom);
  const { output } = session;
  output.say(keys.length === 0 ? "There are no API keys: run api-key create." : "API keys, oldest first");
  if (keys.length > 0) {
    output.rows(
      keys.map(({ id, name, createdAt, revokedAt }) => [
        id,
        `"${name}", made ${createdAt}${revokedAt === null ? "" : `, revoked ${revokedAt}`}`,
      ]),
    );
  }
  output.result(keys);
});
