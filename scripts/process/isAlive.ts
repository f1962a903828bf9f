import { readFileSync } from "node:fs";

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of somebody else cannot be signalled, but it is there.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  return !isZombie(pid);
}

// A process that has ended stays on the list until its parent asks how. In a container, where the first process may be
// anything, nobody asks for those whose parent is gone.
function isZombie(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.startsWith("Z") ?? false;
  } catch {
    return false;
  }
}
