// Ends the programs of a process that is gone without having ended them itself, as after kill −9. It is told on its
// standard input what to hold, a pid or the path of a file a line, and what to let go; when the input ends, so does what it
// holds: the newest first, since what was started later may need what was started before.
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive } from "./isAlive.ts";
import { signalGroup } from "./signalGroup.ts";

const GRACE_MS = 20_000;
const POLL_MS = 50;
const held = new Set<string>();

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
for await (const line of createInterface({ input: process.stdin })) {
  const [verb = "", subject = ""] = line.split(/ (.*)/s);
  if (verb === "hold") held.add(subject);
  else held.delete(subject);
}
for (const subject of [...held].reverse()) {
  if (/^\d+$/.test(subject)) await end(Number(subject));
  else rmSync(subject, { force: true });
}

// A program may have something to write down before it ends.
async function end(pid: number): Promise<void> {
  signalGroup(pid, "SIGTERM");
  for (let waitedMs = 0; waitedMs < GRACE_MS && isAlive(pid); waitedMs += POLL_MS) await pause(POLL_MS);
  signalGroup(pid, "SIGKILL");
}
