import { required } from "../../../command/arguments.ts";
import { CommandError } from "../../../command/CommandError.ts";
import { command } from "../../../command/command.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { withLogin } from "../withLogin.ts";
import { apiKeyFrom } from "./apiKey.ts";

type Arguments = CommonArguments & { id: string; marketplace: string | undefined };

export default command<Arguments>(async (args, session) => {
  const id = required("the key's id", args.id);
  // Whoever types the key itself would send it where it is logged.
  if (!id.startsWith("key_")) {
    throw new CommandError("the key's id is wrong: give the id that begins with key_, as api-key list shows it");
  }
  const path = `/api/v1/keys?id=${encodeURIComponent(id)}`;
  const { body } = await withLogin(session, args.marketplace, (ask) => ask("DELETE", path));
  const revoked = apiKeyFrom(body);
  session.output.say(`Revoked ${revoked.id} ("${revoked.name}"): whoever has it can buy nothing more.`);
  session.output.result(revoked);
});
