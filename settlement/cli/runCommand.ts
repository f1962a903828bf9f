import type { ParseArgsConfig } from "node:util";
import type { Environment } from "../config.ts";
import { suggestionOf } from "../domain/text/nearest.ts";
import { sentenceOf } from "../domain/text/sentence.ts";
import type { Command, Output, Values } from "./command.ts";
import { readArguments, UsageError } from "./readArguments.ts";

// A command is loaded when it is picked, because each brings other parts of the program along.
export type Listed = { name: string; summary: string; load: () => Promise<Command> };

export type CommandProgram = {
  // How it is called.
  program: string;
  commands: readonly Listed[];
  // Whatever an error says, it never says a secret.
  scrubbed(line: string): Promise<string>;
};

const COMMON: ParseArgsConfig["options"] = { json: { type: "boolean" }, help: { type: "boolean", short: "h" } };

// A program of several commands. 0 is in order, 1 is failed or different, 2 is a command line that cannot be followed.
export async function runCommand(
  program: CommandProgram,
  args: readonly string[],
  environment: Environment = process.env,
): Promise<number> {
  const { commands, scrubbed } = program;
  const [name, ...rest] = args;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    (name === undefined ? console.error : console.log)(overview(program));
    return name === undefined ? 2 : 0;
  }
  const picked = commands.find((candidate) => candidate.name === name);
  if (picked === undefined) {
    const suggestion = suggestionOf(
      name,
      commands.map((command) => command.name),
    );
    console.error(`There is no command "${name}"${suggestion || "."}\n${overview(program)}`);
    return 2;
  }
  const command = await picked.load();
  try {
    return await run(program, command, rest, environment);
  } catch (error) {
    if (!(error instanceof UsageError)) {
      console.error(await scrubbed(sentenceOf(firstLineOf(error))));
      return 1;
    }
    console.error(`${sentenceOf(error.message)}\n${usageOf(program, command)}`);
    return 2;
  }
}

async function run(
  program: CommandProgram,
  command: Command,
  args: readonly string[],
  environment: Environment,
): Promise<number> {
  const { values, positionals } = read(command, args);
  if (values.help === true) {
    console.log([usageOf(program, command), "", ...command.help].join("\n"));
    return 0;
  }
  const json = values.json === true;
  const { min, max } = command.positionals ?? { min: 0, max: 0 };
  const wanted = `write ${`${command.name} ${command.usage}`.trim()}`;
  if (positionals.length < min) throw new UsageError(wanted);
  if (positionals.length > max) throw new UsageError(`"${positionals[max]}" is a word too many; ${wanted}`);
  if (positionals.includes("")) throw new UsageError(`a word is empty; ${wanted}`);
  const terminal = process.stderr.isTTY && !json;
  const output: Output = {
    say: (line) => {
      if (terminal) process.stderr.write("\r\u001b[K");
      if (!json) console.log(line);
    },
    progress: (text) => {
      if (terminal) process.stderr.write(`\r\u001b[K${text}`);
    },
    environment,
  };
  const { exitCode, value } = await command.run({ positionals, values, output });
  if (json) console.log(JSON.stringify(value, undefined, 2));
  return exitCode;
}

function read(command: Command, args: readonly string[]): { values: Values; positionals: string[] } {
  const options = { ...COMMON, ...command.options };
  const { values, positionals } = readArguments({ args: [...args], allowPositionals: true, options });
  return { values: values as Values, positionals };
}

function overview({ program, commands }: CommandProgram): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`);
  return [`Usage: ${program} <command> [--json] [--help]`, ...list].join("\n");
}

const usageOf = ({ program }: CommandProgram, { name, usage }: Command) =>
  `Usage: ${[program, name, usage].filter(Boolean).join(" ")} [--json] [--help]`;

function firstLineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n")[0] ?? "";
}
