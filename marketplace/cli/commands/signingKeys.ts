import type { Command } from "../../../settlement/cli/command.ts";
import { UsageError } from "../../../settlement/cli/readArguments.ts";
import { createKeyring, rotateKeyring } from "../../signing/keyring.ts";

export const signingKeys: Command = {
  name: "signing-keys",
  usage: "create <file> | rotate <file>",
  help: [
    "create makes the file that MARKETPLACE_SIGNING_KEYS names, which must not be there yet.",
    "rotate signs with the next key from now on and publishes a new one behind it. A running marketplace notices.",
    "Tools with the middleware of the public SDKs know one key for up to an hour, and refuse what the next one signs until then.",
  ],
  positionals: { min: 2, max: 2 },
  async run({ positionals: [verb, path = ""], output }) {
    if (verb !== "create" && verb !== "rotate") throw new UsageError("say create or rotate");
    const { current, next } = await (verb === "create" ? createKeyring(path) : rotateKeyring(path));
    output.say(`${path}: ${current.kid} signs, ${next.kid} is next`);
    return { exitCode: 0, value: { path, current: current.kid, next: next.kid } };
  },
};
