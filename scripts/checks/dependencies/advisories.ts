// `npm run advisories`: asks the registry for known vulnerabilities of the packages in the lock file. Not a part of
// `npm test`, because the answer depends on the network and on the day. It fails on any advisory for a package that runs in
// production, and on one that is high or critical for a package that builds and tests. No answer is not a good answer: it
// says so and fails with another status.
import { spawnSync } from "node:child_process";
import { readArguments, withUsage } from "../../../settlement/cli/readArguments.ts";

type Vulnerability = { name: string; severity: string; range: string; isDirect: boolean; via: (string | Via)[] };
type Via = { title: string; url: string };
type Report = { vulnerabilities?: Record<string, Vulnerability>; message?: string };

const NO_ANSWER = 2;
const GRAVE = ["high", "critical"];

function ask(...options: string[]): Vulnerability[] | string {
  const { stdout, error } = spawnSync("npm", ["audit", "--json", "--package-lock-only", ...options], {
    encoding: "utf8",
    maxBuffer: 64 * 2 ** 20,
    shell: process.platform === "win32",
  });
  if (error) return error.message;
  try {
    const { vulnerabilities, message = "the answer has no list of vulnerabilities" }: Report = JSON.parse(stdout);
    return vulnerabilities === undefined ? message : Object.values(vulnerabilities);
  } catch {
    return "npm gave no answer that can be read";
  }
}

function describe({ name, range, severity, via }: Vulnerability): string {
  const reasons = via.map((reason) =>
    typeof reason === "string" ? `through ${reason}` : `${reason.title} ${reason.url}`,
  );
  return `  ${severity.padEnd(8)} ${name} ${range}: ${reasons.join("; ")}`;
}

await withUsage("Usage: npm run advisories", () => readArguments({ options: {} }));
const production = ask("--omit=dev");
const all = ask();
if (typeof production === "string" || typeof all === "string") {
  console.error(`Nothing is known: the registry did not say which advisories there are.\n  ${production}`);
  console.error("Run this where the registry of npm can be asked.");
  process.exitCode = NO_ANSWER;
} else {
  const shipped = new Set(production.map(({ name }) => name));
  const tools = all.filter(({ name }) => !shipped.has(name));
  console.log([`In production: ${production.length} packages with advisories`, ...production.map(describe)].join("\n"));
  console.log([`In builds and tests: ${tools.length}`, ...tools.map(describe)].join("\n"));
  const grave = tools.filter(({ severity }) => GRAVE.includes(severity));
  process.exitCode = production.length + grave.length === 0 ? 0 : 1;
}
