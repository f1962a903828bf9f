import { label } from "../../../../settlement/daemon/http/fields.ts";
import { required } from "../../../command/arguments.ts";
import { CommandError } from "../../../command/CommandError.ts";
import { command } from "../../../command/command.ts";
import { printable } from "../../../command/printable.ts";
import type { CommonArguments } from "../../../command/session.ts";
import { withLogin } from "../withLogin.ts";
import { apiKeyFrom } from "./apiKey.ts";

type Arguments = CommonArguments & Record<"name" | "marketplace", string | undefined>;

export default command<Arguments>(async (args, session) => {
  const name = required("--name", args.name);
  const read = label.safeParse(name);
  if (!read.success) throw new CommandError(`--name is wrong: it ${read.error.issues[0]?.message}`);
  const { body } = await withLogin(session, args.marketplace, (ask) => ask("POST", "/api/v1/keys", { name }));
  const created = apiKeyFrom(body);
  const key = printable(`${body.key}`);
  session.output.say(`Created ${created.id}. Keep the key: it is shown here and never again.`);
  session.output.rows([["key", key]]);
  session.output.result({ ...created, key });
});
