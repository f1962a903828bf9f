// `node scripts/checks/dependencies/check.ts`: what the lock file says about every package it pins, without asking the
// network. Each has a licence that is permitted where it is used, and a hash that pins its contents; and exactly those that
// run a program when they are installed are named in package.json.
import { readFileSync } from "node:fs";
import { permits } from "./permits.ts";
import { type LockedPackage, readLockFile } from "./readLockFile.ts";

// What may run in production. Under MPL-2.0 changes to its own files must be published; we make none.
const PRODUCTION = new Set([
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "BlueOak-1.0.0",
  "MPL-2.0",
]);

// What builds and tests may use besides: none of it is passed on.
const DEVELOPMENT = new Set([
  ...PRODUCTION,
  "CC0-1.0",
  "CC-BY-3.0",
  "Python-2.0",
  "Zlib",
  "Apache-2.0 WITH LLVM-exception",
]);

// Packages whose lock entry names no licence in SPDX's form, and what a person found in the package.
const READ_BY_HAND: Readonly<Record<string, string>> = {
  // Its package.json has the old field `licenses`, with MIT.
  memorystream: "MIT",
  // It names the address of a licence; the file LICENSE in it is MIT's text.
  "json-schema-test-suite": "MIT",
};

function problemsOf(packages: readonly LockedPackage[]): string[] {
  const problems: string[] = [];
  for (const { path, name, version, licence: named, integrity, development } of packages) {
    const licence = READ_BY_HAND[name] ?? named ?? undefined;
    if (licence === undefined) problems.push(`${path} ${version} names no licence: read it, and add it by hand.`);
    else if (!permits(development ? DEVELOPMENT : PRODUCTION, licence)) {
      problems.push(
        `${path} ${version} is under ${licence}, which is not permitted ${development ? "" : "in production"}.`,
      );
    }
    if (!integrity?.startsWith("sha512-")) problems.push(`${path} ${version} has no sha512 hash in the lock file.`);
  }
  const { allowScripts }: { allowScripts: Record<string, boolean> } = JSON.parse(readFileSync("package.json", "utf8"));
  const scripted = new Set(packages.filter((entry) => entry.hasInstallScript).map(({ name }) => name));
  for (const name of scripted) {
    if (!(name in allowScripts))
      problems.push(`${name} runs a script when it is installed: allowScripts must name it.`);
  }
  for (const name of Object.keys(allowScripts)) {
    if (!scripted.has(name)) problems.push(`allowScripts names ${name}, which runs no script when it is installed.`);
  }
  return problems;
}

const locked = readLockFile();
const packages = locked.filter(({ unfetched }) => !unfetched);
const problems = problemsOf(packages);
for (const problem of problems) console.log(problem);
const production = packages.filter(({ development }) => !development).length;
console.log(`${packages.length} packages, ${production} of them in production: ${problems.length} problems.`);
const left = locked.length - packages.length;
if (left > 0) console.log(`${left} of other platforms are named and not looked at: nobody here has fetched them.`);
process.exitCode = problems.length === 0 ? 0 : 1;
