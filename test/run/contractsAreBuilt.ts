import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome, Start } from "./check.ts";

// What is generated from the contracts is committed, so that the service needs no compiler.
const GENERATED = ["typechain-types", "settlement/chain/abi.ts"];

// Hardhat decides by content which sources to compile again, but never looks into what it has written before: a build that
// was interrupted can leave artifacts of other sources there. So the hash of everything that a whole build has left is
// kept, and where it no longer agrees, nothing is taken over.
const BUILD = ["artifacts", "cache/compile-cache.json"];
const BUILD_HASH = "cache/build.sha256";

// Builds the contracts for all checks that need them, and compares what is generated with what is committed.
export async function contractsAreBuilt(start: Start, print: (text: string) => void): Promise<Outcome> {
  const committed = contentsOf(GENERATED);
  const isWhole = existsSync(BUILD_HASH) && readFileSync(BUILD_HASH, "utf8") === hashOf(BUILD);
  rmSync(BUILD_HASH, { force: true });
  const built = await start("hardhat", "build", "--quiet", ...(isWhole ? [] : ["--force"]));
  if (built.code !== 0) return failure("the contracts cannot be compiled");
  const generated = await start("node", "scripts/generate/abi.ts");
  if (generated.code !== 0) return failure("the ABIs cannot be generated");
  writeFileSync(BUILD_HASH, hashOf(BUILD));
  if (unordered(contentsOf(GENERATED)) === unordered(committed)) {
    // A test leaves no trace: what differs only in its order goes back to how it was.
    for (const [path, content] of committed) writeFileSync(path, content);
    return { passed: 1, failures: [] };
  }
  print(`${GENERATED.join(" or ")} was stale and has been generated again: commit it.\n`);
  return failure(`${GENERATED.join(" or ")} was stale`);
}

const failure = (sentence: string): Outcome => ({ passed: 0, failures: [sentence] });

function hashOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths.flatMap(filesUnder)) hash.update(`${path}\0`).update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}

function contentsOf(paths: readonly string[]): Map<string, string> {
  return new Map(paths.flatMap(filesUnder).map((path) => [path, readFileSync(path, "utf8")]));
}

// Lines are compared without their order: Hardhat lists contracts in whatever order it got them. And without their
// indentation, which TypeChain gives to the first entry of a list alone.
function unordered(contents: ReadonlyMap<string, string>): string {
  const linesOf = (content: string) => content.split("\n").map((line) => line.trim());
  return JSON.stringify([...contents].map(([path, content]) => [path, linesOf(content).sort()]));
}

function filesUnder(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
