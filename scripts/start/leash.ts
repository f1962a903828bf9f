// Ends the daemon and then the chain when the process that started them is gone without having ended them itself, as after
// kill −9. It is told on its standard input whom to end, one "daemon <pid>" or "chain <pid>" a line; "done" lets it go.
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive } from "./isAlive.ts";

const WAIT_MS = 20_000;
const POLL_MS = 50;
const [lock = ""] = process.argv.slice(2);
const pids = new Map<string, number>();
let done = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
for await (const line of createInterface({ input: process.stdin })) {
  const [name = "", pid] = line.split(" ");
  if (name === "done") done = true;
  else pids.set(name, Number(pid));
}
if (!done) {
  await end(pids.get("daemon"));
  // Last, because it writes its state when it ends: nothing that the ledger knows may be missing in it.
  await end(pids.get("chain"));
  rmSync(lock, { force: true });
}

async function end(pid: number | undefined): Promise<void> {
  if (pid === undefined || !isAlive(pid)) return;
  process.kill(pid, "SIGTERM");
  for (let waitedMs = 0; waitedMs < WAIT_MS && isAlive(pid); waitedMs += POLL_MS) await pause(POLL_MS);
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
}
