// Runs before `npm test`, `npm start` and the other scripts, on whatever Node the machine has, and installs what the lock
// file names unless that has been done. The install itself must run on the pinned Node: an older one makes npm leave out
// platform packages without a word. It is `npm install` and not `npm ci`, which begins by deleting everything that is there.
// Versions come from the lock file either way.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));

// Written when an install is complete. It says for what: times of files say nothing, because git and copies set them as they
// like. npm's own record of what is in node_modules is part of it, so that whatever else npm does there is noticed.
const INSTALLED = "node_modules/.installed";
const NPM_RECORD = "node_modules/.package-lock.json";
// There while an install runs, with the number of its process.
const INSTALLING = "node_modules/.installing";

if (!existsSync(INSTALLED) || readFileSync(INSTALLED, "utf8") !== fingerprint()) install();

function fingerprint() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  for (const path of ["package-lock.json", NPM_RECORD]) {
    hash.update(`\0${existsSync(path) ? readFileSync(path, "utf8") : ""}`);
  }
  return hash.digest("hex");
}

function install() {
  if (existsSync(INSTALLING)) {
    const pid = Number(readFileSync(INSTALLING, "utf8"));
    if (isInstall(pid))
      fail(`Another install is running here, as process ${pid}. Wait for it and run the command again.`);
  }
  // What an interrupted install leaves cannot be completed: npm sees that a package is there and not that half of its files
  // are missing.
  if (existsSync(INSTALLING) || !existsSync(NPM_RECORD)) rmSync("node_modules", { recursive: true, force: true });
  rmSync(INSTALLED, { force: true });
  mkdirSync("node_modules", { recursive: true });
  writeFileSync(INSTALLING, `${process.pid}`);

  const { node } = JSON.parse(readFileSync("package.json", "utf8")).devDependencies;
  const include = ["--include=dev", "--include=optional"];
  const command = ["--yes", "--package", `node@${node}`, "npm", "install", "--no-audit", "--no-fund", ...include];
  console.log(`Installing dependencies with Node ${node} (about a minute) …`);
  const { status, error } = spawnSync("npx", command, {
    stdio: "inherit",
    shell: process.platform === "win32",
    // Whatever the user's settings leave out elsewhere: here everything is needed, and Node itself comes by a script.
    env: { ...process.env, npm_config_ignore_scripts: "false", ...writableCache() },
  });
  if (status !== 0) {
    const reason = error ? `: ${error.message}` : "";
    fail(`The install failed${reason}. Check the network and run the command again.`);
  }
  writeFileSync(INSTALLED, fingerprint());
  rmSync(INSTALLING);
}

// npm's cache, or where that cannot be written a folder beside the packages.
function writableCache() {
  const cache = process.env.npm_config_cache;
  try {
    if (cache !== undefined) {
      mkdirSync(cache, { recursive: true });
      accessSync(cache, constants.W_OK);
    }
    return {};
  } catch {
    return { npm_config_cache: join(process.cwd(), "node_modules", ".npm") };
  }
}

// The number of a process that has ended may be another's by now, most of all in containers.
function isInstall(pid) {
  try {
    process.kill(pid, 0);
    return !existsSync("/proc/self/cmdline") || readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("install.mjs");
  } catch {
    return false;
  }
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
