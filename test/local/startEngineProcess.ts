import { type ChildProcess, spawn } from "node:child_process";
import type { EngineProcessOptions } from "./engineProcess.ts";

export type EngineProcess = {
  child: ChildProcess;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
};

export function startEngineProcess(options: EngineProcessOptions): EngineProcess {
  const child = spawn("node_modules/.bin/node", ["test/local/engineProcess.ts", JSON.stringify(options)], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { child, ended: new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code, signal }))) };
}
