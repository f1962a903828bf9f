import { readFileSync } from "node:fs";
import { CommandError } from "../command/CommandError.ts";

export function readJson(what: string, path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "is no JSON" : "cannot be read";
    throw new CommandError(`${what} ${path} ${reason}: name a file with JSON in it`);
  }
}
