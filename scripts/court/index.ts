import { task } from "hardhat/config";
import { optional, sending } from "../command/options.ts";

const tool = { name: "tool", description: "The tool's id, a UUID" } as const;
const court = optional("court", "The address of the schema court; the deployment's if it is left out");
const key = optional("key", "The address of the key that signs answers");

export const courtTasks = [
  sending(task("pin-schema", "Pin the schema that a method's answers are to match"))
    .addPositionalArgument(tool)
    .addOption(optional("method", "The method, as the tool lists it"))
    .addOption(optional("schema", "A file with the method's output schema"))
    .addOption(court)
    .setAction(() => import("./pinSchema.ts"))
    .build(),
  sending(task("register-key", "Let a key sign a tool's answers"))
    .addPositionalArgument(tool)
    .addOption(key)
    .addOption(court)
    .setAction(() => import("./registerKey.ts"))
    .build(),
  sending(task("revoke-key", "End what a key may sign, after an hour"))
    .addPositionalArgument(tool)
    .addOption(key)
    .addOption(court)
    .setAction(() => import("./revokeKey.ts"))
    .build(),
  sending(task("convict", "Convict a tool of a signed answer that does not match its schema"))
    .addPositionalArgument({
      name: "file",
      description: "A file with the schema, the answer's content and its signature",
    })
    .addOption(
      optional("receipts", "A folder of receipts that watch has kept: who paid for the call gets it back, too"),
    )
    .addOption(court)
    .setAction(() => import("./convict.ts"))
    .build(),
];
