import { execFileSync } from "node:child_process";
import { availableParallelism, cpus, type as systemName, totalmem } from "node:os";

export type Machine = { cores: number; processor: string; memoryGib: number; system: string; node: string };

// What a measurement depends on, and nothing that tells whose machine it was.
export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() || "unknown",
    memoryGib: Math.round(totalmem() / 2 ** 30),
    system: `${systemName()} ${process.arch}`,
    node: process.version,
  };
}

// The commit that was measured, and whether anything but the page itself differed from it.
export function describeCommit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
  try {
    const changed = git("status", "--porcelain", "--", ".", ":!docs");
    return git("rev-parse", "--short=12", "HEAD") + (changed === "" ? "" : ", with changes");
  } catch {
    return "unknown";
  }
}
