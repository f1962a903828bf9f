import { generatePrivateKey } from "viem/accounts";
import { createKeystore } from "../../chain/signer/createKeystore.ts";
import { readKeystorePassword } from "../../config.ts";
import type { Command } from "../command.ts";
import { UsageError } from "../readArguments.ts";

export const keystore: Command = {
  name: "keystore",
  usage: "create <file>",
  help: [
    "Makes a new operator key, encrypts it with SETTLEMENT_KEYSTORE_PASSWORD and writes it into a new file, which only",
    "its owner can read. Shows the address, which the admin then makes an operator; the key itself is never shown.",
  ],
  positionals: { min: 2, max: 2 },
  async run({ positionals: [verb, path = ""], output }) {
    if (verb !== "create") throw new UsageError("say create");
    const password = readKeystorePassword(output.environment);
    const { address } = await createKeystore({ path, password, privateKey: generatePrivateKey() });
    output.say(`${path} holds the key of ${address}`);
    return { exitCode: 0, value: { file: path, address } };
  },
};
