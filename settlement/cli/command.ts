import type { ParseArgsConfig } from "node:util";
import type { Environment } from "../config.ts";

export type Output = {
  // A line for people. Nothing is printed by it with --json.
  say(line: string): void;
  // How far a long work is; on a terminal only.
  progress(text: string): void;
  environment: Environment;
};

// What a command found: the value for --json, and 0 if all is in order or 1 if not.
export type Result = { exitCode: 0 | 1; value: unknown };

export type Values = Readonly<Record<string, string | boolean | undefined>>;

export type Command = {
  name: string;
  // Behind the name in the usage line.
  usage: string;
  help: readonly string[];
  options?: ParseArgsConfig["options"];
  // How many words may follow the name.
  positionals?: { min: number; max: number };
  run(request: { positionals: readonly string[]; values: Values; output: Output }): Promise<Result>;
};
