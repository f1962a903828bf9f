import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { ArgumentType } from "hardhat/types/arguments";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";
import type { Task } from "hardhat/types/tasks";

export type TaskRun = { code: number; stdout: string; stderr: string };

// Runs a command as its Hardhat task in this process, which takes a tenth of the time that a program needs to start. What
// only a whole program shows (its exit code, its questions, Ctrl-C) is shown by deploy.test.ts and by some of the pages. Nobody is
// asked here: a command that sends is told yes beforehand. Hardhat's configuration reads the node's address when it is loaded, so all runs
// of a test file share one.
export async function runInProcess(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  project = process.cwd(),
): Promise<TaskRun> {
  const restoreEnvironment = setEnvironment(env);
  const { stdout, stderr, restore } = captureConsole();
  try {
    const network = command.includes("--network") ? command[command.indexOf("--network") + 1] : undefined;
    const { default: config } = await import("../../hardhat.config.ts");
    const hre = await createHardhatRuntimeEnvironment(config, network === undefined ? {} : { network }, project);
    const { task, rest } = findTask(hre, command);
    const result: { success: boolean } | undefined = await task.run({
      ...(task.options.has("yes") && { yes: true }),
      ...argumentsOf(task, rest),
    });
    return { code: result?.success === false ? 1 : 0, stdout: textOf(stdout), stderr: textOf(stderr) };
  } finally {
    restore();
    restoreEnvironment();
  }
}

// Tasks may have names of several words.
function findTask({ tasks }: HardhatRuntimeEnvironment, words: readonly string[]): { task: Task; rest: string[] } {
  let task = tasks.getTask(words[0] ?? "");
  let used = 1;
  for (let next = task.subtasks.get(words[used] ?? ""); next; next = task.subtasks.get(words[used] ?? "")) {
    task = next;
    used += 1;
  }
  return { task, rest: words.slice(used) };
}

// What Hardhat makes of the words after a task's name.
function argumentsOf({ options, positionalArguments }: Task, words: readonly string[]): Record<string, unknown> {
  const args: Record<string, unknown> = {};
  const left = [...words];
  let position = 0;
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!word.startsWith("--")) {
      const argument = positionalArguments[position];
      if (!argument) throw new RangeError(`${word} is one argument too many`);
      args[argument.name] = argumentOf(argument.type, word);
      position += 1;
      continue;
    }
    const name = word.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const option = options.get(name);
    if (option?.type === ArgumentType.FLAG) args[name] = true;
    else if (option) args[name] = argumentOf(option.type, left.shift() ?? "");
    else if (name === "network") left.shift();
    else throw new RangeError(`there is no option ${word}`);
  }
  return args;
}

const argumentOf = (type: ArgumentType, word: string) => (type === ArgumentType.INT ? Number(word) : word);

function setEnvironment(env: NodeJS.ProcessEnv): () => void {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  const set = ([name, value]: readonly [string, string | undefined]) => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  for (const entry of Object.entries(env)) set(entry);
  return () => {
    for (const entry of before) set(entry);
  };
}

function captureConsole() {
  const { log, error } = console;
  const stdout: string[] = [];
  const stderr: string[] = [];
  console.log = (text: string) => stdout.push(text);
  console.error = (text: string) => stderr.push(text);
  return { stdout, stderr, restore: () => Object.assign(console, { log, error }) };
}

const textOf = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
