export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of somebody else cannot be signalled, but it is there.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
