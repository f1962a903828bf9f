import { type ParseArgsConfig, parseArgs } from "node:util";

// The options of a command, or a sentence about what was mistyped, the usage and exit code 2: before anything is started.
export function readArguments<const T extends NonNullable<ParseArgsConfig["options"]>>(options: T, usage: string) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // parseArgs says what it does not understand in its first sentence.
    return mistyped(`${error.message.split(/\.(?:\s|$)/)[0]}.`, usage);
  }
}

export function mistyped(sentence: string, usage: string): never {
  console.error(`${sentence}\n${usage}`);
  process.exit(2);
}
