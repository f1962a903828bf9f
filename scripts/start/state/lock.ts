import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { isAlive } from "../../process/isAlive.ts";
import { StartError } from "../StartError.ts";

// The process that runs the stack, and the one that ends it if that is killed.
const schema = z.object({ pid: z.int().positive(), watchdog: z.int().positive().nullable() });

export type Lock = { holdWith(watchdog: number): void; release(): void };

// One stack per folder: two daemons and two chains on the same files would ruin them.
export function takeLock(path: string, folder: string): Lock {
  const contents = { pid: process.pid, watchdog: null as number | null };
  try {
    writeFileSync(path, JSON.stringify(contents), { flag: "wx" });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    refuseIfHeld(path, folder);
    writeFileSync(path, JSON.stringify(contents));
  }
  return {
    holdWith(watchdog) {
      contents.watchdog = watchdog;
      writeFileSync(path, JSON.stringify(contents));
    },
    release: () => rmSync(path, { force: true }),
  };
}

function refuseIfHeld(path: string, folder: string): void {
  const holder = readHolder(path);
  const running = [holder?.pid, holder?.watchdog].find((pid) => typeof pid === "number" && isAlive(pid));
  if (running === undefined) return;
  throw new StartError(
    `a stack is running on ${folder} already, as process ${running}: end that one, or use another folder with ` +
      `npm start -- --state <folder>; if process ${running} is something else, delete ${path}`,
  );
}

function readHolder(path: string): z.infer<typeof schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    // A lock that was cut off in the middle of a write is nobody's.
    return undefined;
  }
}
