import { type ParseArgsConfig, parseArgs } from "node:util";
import { suggestionOf } from "../domain/text/nearest.ts";
import { sentenceOf } from "../domain/text/sentence.ts";

// What was typed is not understood. Its message names the option and is shown with the usage line.
export class UsageError extends Error {
  override readonly name = "UsageError";
}

// Whoever asks how a program is called gets its usage, and has mistyped nothing.
export class UsageRequest extends Error {
  override readonly name = "UsageRequest";
}

// The one reader of command lines: of the operator's commands, of `npm start`, benchmarks, simulator and tests.
export function readArguments<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  const asked = (config.args ?? process.argv.slice(2)).some((word) => word === "--help" || word === "-h");
  if (asked && config.options?.help === undefined) throw new UsageRequest("how is it called?");
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(reasonOf(error instanceof Error ? error.message : String(error), config));
  }
}

const UNKNOWN = /^Unknown option '(--[^']+)'/;
const AMBIGUOUS = /^Option '(?:-\w, )?(--[\w-]+)[^']*' argument is ambiguous/;

// parseArgs says what it does not understand in its first sentence, and not what else there is.
function reasonOf(message: string, { options = {} }: ParseArgsConfig): string {
  const [, unknown] = UNKNOWN.exec(message) ?? [];
  if (unknown !== undefined) {
    const known = Object.keys(options).map((name) => `--${name}`);
    return `there is no option ${unknown}${suggestionOf(unknown, known)}`;
  }
  const [, ambiguous] = AMBIGUOUS.exec(message) ?? [];
  if (ambiguous !== undefined) return `${ambiguous} needs a value; write ${ambiguous}=… if it begins with a dash`;
  return message.split(". ")[0] ?? "";
}

// Runs a command, or the part of it that reads its arguments. If it was mistyped, the process says what was wrong and how it
// is called, and ends with 2: at once, because what was imported may end it later with a code of its own.
export async function withUsage<T>(usage: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UsageRequest) {
      console.log(usage);
      process.exit(0);
    }
    if (!(error instanceof UsageError)) throw error;
    console.error(`${sentenceOf(error.message)}\n${usage}`);
    process.exit(2);
  }
}

// The value of an option that counts something.
export function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new UsageError(`${option} must be a whole number above zero`);
  return value;
}
