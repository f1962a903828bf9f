import { ArgumentType } from "hardhat/types/arguments";
import type { NewTaskDefinitionBuilder, TaskArguments } from "hardhat/types/tasks";

export const optional = <Name extends string>(name: Name, description: string) => ({
  name,
  description,
  type: ArgumentType.STRING_WITHOUT_DEFAULT as const,
  defaultValue: undefined,
});

// The options that commands have in common, by what a command does to the chain.

export const reading = <T extends TaskArguments>(builder: NewTaskDefinitionBuilder<T>) =>
  builder.addFlag({ name: "json", description: "Print one JSON document for a machine to read" });

// A command that looks, by default at what belongs to the caller's own account.
export const lookingAs = <T extends TaskArguments>(builder: NewTaskDefinitionBuilder<T>) =>
  reading(builder).addOption(optional("account", "Whose; your own otherwise"));

export const sending = <T extends TaskArguments>(builder: NewTaskDefinitionBuilder<T>) =>
  reading(builder)
    .addFlag({ name: "yes", description: "Send without asking" })
    .addOption(optional("from", "The account that sends; the network's first one otherwise"));

export const administering = <T extends TaskArguments>(builder: NewTaskDefinitionBuilder<T>) =>
  sending(builder).addFlag({
    name: "safe",
    description: "Print the transaction for a Safe to import instead of sending it",
  });
