import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { PATIENCE_MS } from "../waiting/until.ts";
import { watchdog } from "./createWatchdog.ts";
import { signalGroup } from "./signalGroup.ts";

export type End = { code: number | null; signal: NodeJS.Signals | null };

// What a program has printed, and how it ended.
export type Run = End & { stdout: string; stderr: string };

export type Program = {
  child: ChildProcess;
  pid: number;
  stdout(): string;
  stderr(): string;
  // Both, as they came.
  output(): string;
  // Resolves with the match when the program has printed the text, or what fits the pattern, so many times; rejects when it
  // has ended without.
  printed(what: string | RegExp, count?: number): Promise<readonly string[]>;
  ended: Promise<Run>;
  // To the program alone, if it still runs.
  signal(signal: NodeJS.Signals): void;
  // Asks it to end, and insists when it has not for a while.
  stop(graceMs?: number): Promise<Run>;
  // Without any clean-up.
  kill(): Promise<Run>;
};

export type ProgramOptions = {
  // The whole environment; this process's own unless told.
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  // What it reads on standard input: nothing, a text, or what is written to `child.stdin`.
  input?: string | "open";
  // Whether it and this process can send each other messages.
  messages?: boolean;
  // Whether what it prints is gathered, goes unread, is handed on as well, or is appended to a file.
  output?: "gather" | "ignore" | { to: (text: string) => void } | { file: string };
};

// Of a program that prints more, the newest is kept.
const MAX_OUTPUT = 32 * 2 ** 20;

const running = new Set<number>();

// The module that programs load first, if a test run has one: see test/packages.
export const PRELOAD = "PROGRAM_PRELOAD";

// Where Node keeps what it has compiled, and what it loads first. Neither says anything about the machine to the program, which
// starts in a third of the time.
function startSooner(): NodeJS.ProcessEnv {
  const { NODE_COMPILE_CACHE, [PRELOAD]: preload } = process.env;
  return {
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
    ...(preload !== undefined && { NODE_OPTIONS: `--import=${preload}` }),
  };
}

// Passes a signal on to everything that this process has started, for whoever is asked to end and has no time to wait.
export function signalPrograms(signal: NodeJS.Signals): void {
  for (const pid of running) signalGroup(pid, signal);
}

// Runs a program in a group of its own, and ends whatever it has started together with it. If this process is killed, the
// watchdog ends what is left.
export function startProgram(file: string, args: readonly string[], options: ProgramOptions = {}): Program {
  const { output: to = "gather", input } = options;
  const log = typeof to === "object" && "file" in to ? openSync(to.file, "a") : undefined;
  const out = log ?? (to === "ignore" ? "ignore" : "pipe");
  const child = spawn(file, args, {
    ...(options.env && { env: { ...startSooner(), ...options.env } }),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
    stdio: [input === undefined ? "ignore" : "pipe", out, out, options.messages ? "ipc" : "ignore"],
    detached: true,
  });
  if (log !== undefined) closeSync(log);
  const { pid } = child;
  if (pid !== undefined) {
    running.add(pid);
    watchdog().hold(pid);
  }
  if (input !== undefined) {
    // It may end before it has read everything.
    child.stdin?.on("error", () => undefined);
    if (input !== "open") child.stdin?.end(input);
  }

  const texts = { stdout: "", stderr: "", output: "" };
  const listeners = new Set<() => void>();
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      texts[name] = (texts[name] + chunk).slice(-MAX_OUTPUT);
      texts.output = (texts.output + chunk).slice(-MAX_OUTPUT);
      if (typeof to === "object" && "to" in to) to.to(chunk);
      for (const listen of listeners) listen();
    });
  }

  const ended = new Promise<Run>((resolve, reject) => {
    child.on("error", reject);
    // Whatever else is in the group would keep the pipes open.
    child.on("exit", () => {
      if (pid === undefined) return;
      signalGroup(pid, "SIGKILL");
      running.delete(pid);
      watchdog().letGo(pid);
    });
    child.on("close", (code, signal) => resolve({ code, signal, stdout: texts.stdout, stderr: texts.stderr }));
  });
  // Whoever waits for it hears of it.
  ended.catch(() => undefined);

  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const signal = (name: NodeJS.Signals) => {
    if (isRunning()) child.kill(name);
  };
  const kill = () => {
    if (isRunning() && pid !== undefined) signalGroup(pid, "SIGKILL");
    return ended;
  };

  async function printed(what: string | RegExp, count = 1): Promise<readonly string[]> {
    const match = (): readonly string[] | undefined => {
      if (typeof what === "string") return texts.output.split(what).length > count ? [what] : undefined;
      return [...texts.output.matchAll(new RegExp(what, "g"))][count - 1];
    };
    let listen = () => {};
    const timeout = new AbortController();
    try {
      const found = await Promise.race([
        new Promise<readonly string[]>((resolve) => {
          listen = () => {
            const now = match();
            if (now !== undefined) resolve(now);
          };
          listeners.add(listen);
          listen();
        }),
        ended.then(match),
        pause(PATIENCE_MS, undefined, { signal: timeout.signal }),
      ]);
      if (found !== undefined) return found;
    } finally {
      listeners.delete(listen);
      timeout.abort();
    }
    const how = isRunning() ? "did not print" : "ended without printing";
    throw new Error(`${file} ${how} ${what}:\n${texts.output}`);
  }

  return {
    child,
    pid: pid ?? 0,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    output: () => texts.output,
    printed,
    ended,
    signal,
    async stop(graceMs = PATIENCE_MS) {
      signal("SIGTERM");
      const timer = setTimeout(kill, graceMs);
      try {
        return await ended;
      } finally {
        clearTimeout(timer);
      }
    },
    kill,
  };
}
