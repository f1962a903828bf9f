import { execFileSync } from "node:child_process";

// The commit that the deployed code came from; marked when the working tree differed from it.
export function currentCommit(): string {
  const git = (...args: string[]) =>
    execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  try {
    const changed = git("status", "--porcelain", "--", "contracts", "typechain-types").trim() !== "";
    return git("rev-parse", "HEAD").trim() + (changed ? " with uncommitted changes" : "");
  } catch {
    return "unknown";
  }
}
