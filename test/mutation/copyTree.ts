import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type Tree = { folder: string; remove(): void };

// What was built before is taken along. Where Hardhat can use it, only the mutated contract is compiled from the start.
const BUILT = ["artifacts", "cache"];

// A copy of everything that belongs to the repository, with the installed packages beside it. The real tree is never
// changed: whoever stops a run halfway has nothing to clean up in it.
export function copyTree(root: string): Tree {
  const folder = mkdtempSync(join(tmpdir(), "mutation-"));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  for (const path of new Set(listed.split("\0"))) {
    // A link to packages elsewhere is no folder to git, which would list it.
    if (path === "" || path === "node_modules" || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  for (const path of BUILT) {
    const options = { recursive: true, preserveTimestamps: true };
    if (existsSync(join(root, path))) cpSync(join(root, path), join(folder, path), options);
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  // A deployment records the commit that it was made from.
  const identity = ["-c", "user.name=mutation", "-c", "user.email=mutation@localhost"];
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
  execFileSync("git", [...identity, "commit", "--quiet", "--allow-empty", "--message", "copy"], { cwd: folder });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
