import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";

export type Watchdog = {
  pid: number;
  // A program, by its pid, is to be ended, and a file, by its path, to be deleted, if this process is gone before it lets go.
  hold(subject: number | string): void;
  letGo(subject: number | string): void;
};

let running: Watchdog | undefined;

// One for this process, started when it is first needed. It ends when this process does.
export function watchdog(): Watchdog {
  running ??= start();
  return running;
}

function start(): Watchdog {
  const child = spawn(process.execPath, [join(import.meta.dirname, "watchdog.ts")], {
    stdio: ["pipe", "ignore", "ignore"],
    // Out of the reach of the terminal's Ctrl-C.
    detached: true,
  });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  // Nobody stays for it.
  child.unref();
  (child.stdin as Socket).unref();
  return {
    pid: child.pid ?? process.pid,
    hold: (subject) => void child.stdin.write(`hold ${subject}\n`),
    letGo: (subject) => void child.stdin.write(`free ${subject}\n`),
  };
}
