import { spawn } from "node:child_process";
import { join } from "node:path";

export type Leash = {
  pid: number;
  // This process is to be ended if ours is killed.
  hold(name: "daemon" | "chain", pid: number): void;
  letGo(): void;
};

export function startLeash(lock: string): Leash {
  const child = spawn(process.execPath, [join(import.meta.dirname, "leash.ts"), lock], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  child.unref();
  return {
    pid: child.pid ?? process.pid,
    hold: (name, pid) => void child.stdin.write(`${name} ${pid}\n`),
    letGo: () => void child.stdin.end("done\n"),
  };
}
