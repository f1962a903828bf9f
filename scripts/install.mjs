// Runs before `npm test` and `npm start`, on whatever Node the machine has, and installs what the lock file names if that
// has not been done yet. The install itself has to run on the pinned Node: an older one makes npm leave out platform
// packages without a word. It is `npm install` and not `npm ci`, which begins by deleting everything that is there.
// Versions come from the lock file either way.
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";

const modifiedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

if (modifiedAt("node_modules/.package-lock.json") < modifiedAt("package-lock.json")) {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const command = ["--yes", "--package", `node@${devDependencies.node}`, "npm", "install", "--no-audit", "--no-fund"];
  console.log(`Installing dependencies with Node ${devDependencies.node} (about a minute) …`);
  const { status, error } = spawnSync("npx", command, { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) {
    const reason = error ? `: ${error.message}` : "";
    console.error(`The install failed${reason}. Check the network and run the command again.`);
    process.exit(1);
  }
}
