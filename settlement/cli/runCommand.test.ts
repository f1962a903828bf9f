import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Command } from "./command.ts";
import { runCommand } from "./runCommand.ts";

const copy: Command = {
  name: "copy",
  usage: "<file>",
  help: [],
  positionals: { min: 1, max: 1 },
  run: async () => ({ exitCode: 0, value: null }),
};
const program = {
  program: "settle",
  commands: [{ name: "copy", summary: "copies", load: async () => copy }],
  scrubbed: async (line: string) => line,
};

let said: string[];
beforeEach(() => {
  said = [];
  vi.spyOn(console, "error").mockImplementation((line) => void said.push(String(line)));
});
afterEach(() => void vi.restoreAllMocks());

it.each([
  [["cpy", "a"], 'There is no command "cpy"; did you mean copy?'],
  [["format", "a"], 'There is no command "format".'],
  [["copy"], "Write copy <file>."],
  [["copy", "a", "b"], '"b" is a word too many; write copy <file>.'],
  [["copy", ""], "A word is empty; write copy <file>."],
])("%j is not followed, and the first line says why", async (args, sentence) => {
  expect(await runCommand(program, args)).toBe(2);
  expect(said.join("\n").split("\n")[0]).toBe(sentence);
});
