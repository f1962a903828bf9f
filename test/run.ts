// What `npm test` does: every check of the repository, one after the other, and a count at the end. All of them run even
// if one fails, so that one run shows everything there is to mend.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Count = { passed: number; failed: number };

type Check = { name: string; run: () => Promise<Count> };

const checks: Check[] = [
  { name: "TypeScript format and lint", run: () => command("biome", "ci", "--error-on-warnings", ".") },
  {
    name: "Solidity format",
    run: () => command("prettier", "--check", "--log-level", "warn", "{contracts,bench,test}/**/*.sol"),
  },
  {
    name: "Solidity lint",
    run: () => command("solhint", "--disc", "--max-warnings", "0", "{contracts,bench}/**/*.sol"),
  },
  {
    name: "licences, hashes and install scripts of dependencies",
    run: () => command("node", "scripts/dependencies/check.ts"),
  },
  { name: "generated types and ABIs are those of the contracts", run: generatedIsFresh },
  { name: "types", run: () => command("tsc", "--noEmit") },
  { name: "types of the console", run: () => command("tsc", "--noEmit", "-p", "settlement/console/app") },
  {
    name: "formal proofs, and their refutation of broken twins",
    run: () => suite(/^\d+ passed, \d+ failed$/gm, "node", "test/formal/prove.ts"),
  },
  {
    name: "contract laws and fuzz tests",
    run: () => suite(/^\s*(\d+) (passing|failing)/gm, "hardhat", "test", "solidity"),
  },
  {
    name: "contract tests",
    run: () => suite(/^\s*(\d+) (passing|failing)/gm, "hardhat", "test", "mocha", "--no-compile"),
  },
  { name: "service tests", run: () => suite(/Tests .*/g, "vitest", "run") },
];

// A command that either holds or does not.
async function command(file: string, ...args: string[]): Promise<Count> {
  const { ok } = await execute(file, args);
  return ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

// A test runner, whose own summary says how many tests there were.
async function suite(summary: RegExp, file: string, ...args: string[]): Promise<Count> {
  const { ok, output } = await execute(file, args);
  const lines = (output.match(summary) ?? []).join(" ");
  const count = { passed: countOf(lines, /(\d+) pass/), failed: countOf(lines, /(\d+) fail/) };
  // A runner that breaks down before its summary, or that found no test, has failed.
  if ((!ok && count.failed === 0) || count.passed + count.failed === 0) count.failed += 1;
  return count;
}

const countOf = (text: string, pattern: RegExp) => Number(text.match(pattern)?.[1] ?? 0);

// What is generated from the contracts is committed, so that the service needs no compiler.
const GENERATED = ["typechain-types", "settlement/chain/abi.ts"];

async function generatedIsFresh(): Promise<Count> {
  const committed = contentsOf(GENERATED);
  const built = await command("hardhat", "build", "--force", "--quiet");
  if (built.failed > 0) return built;
  const generated = await command("node", "scripts/generate-abi.ts");
  if (generated.failed > 0) return generated;
  if (unordered(contentsOf(GENERATED)) === unordered(committed)) {
    // A test leaves no trace: what differs only in its order goes back to how it was.
    for (const [path, content] of committed) writeFileSync(path, content);
    return generated;
  }
  console.log(`${GENERATED.join(" or ")} was stale and has been generated anew: commit it.`);
  return { passed: 0, failed: 1 };
}

function contentsOf(paths: readonly string[]): Map<string, string> {
  return new Map(paths.flatMap(filesUnder).map((path) => [path, readFileSync(path, "utf8")]));
}

// Lines are compared without their order: Hardhat lists contracts in whatever order the file system has them.
function unordered(contents: ReadonlyMap<string, string>): string {
  return JSON.stringify([...contents].map(([path, content]) => [path, content.split("\n").sort()]));
}

function filesUnder(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

// Runs a program of node_modules/.bin, shows what it prints and keeps it without colours.
function execute(file: string, args: string[]): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(join("node_modules", ".bin", file), args, { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      process.stdout.write(chunk);
      output += chunk;
    });
    child.on("error", (error) => {
      console.error(`${file} did not start: ${error.message}`);
      resolve({ ok: false, output });
    });
    child.on("close", (code) => resolve({ ok: code === 0, output: stripColours(output) }));
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what begins a colour.
const stripColours = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, "");

const results: (Count & { name: string; seconds: number })[] = [];
for (const { name, run } of checks) {
  console.log(`\n── ${name}`);
  const startedAt = performance.now();
  results.push({ name, ...(await run()), seconds: Math.round((performance.now() - startedAt) / 1000) });
}

console.log("");
for (const { name, passed, failed, seconds } of results) {
  console.log(`${failed ? "✗" : "✓"} ${name}: ${failed ? `${failed} failed, ` : ""}${passed} passed (${seconds} s)`);
}
const total = (key: keyof Count) => results.reduce((sum, result) => sum + result[key], 0);
console.log(`\n${total("passed")} passed, ${total("failed")} failed`);
process.exitCode = total("failed") ? 1 : 0;
