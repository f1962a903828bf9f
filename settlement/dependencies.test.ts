import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

// Imports that are still there when Node has taken the types out, and files that are looked up to be read.
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\b)[^"';]*?\bfrom\s*"([^"]+)"|\b(?:import|createRequire\(import\.meta\.url\)\.resolve)\s*\(\s*"([^"]+)"\s*\)|(?:^|\n)\s*import\s*"([^"]+)"/g;
const importsOf = (path: string) =>
  [...read(path).matchAll(IMPORT)].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? "");

const filesOfTheService = () =>
  readdirSync(join(ROOT, "settlement"), { recursive: true, encoding: "utf8" })
    .map((path) => join("settlement", path))
    .filter((path) => /\.(ts|mjs)$/.test(path) && !/\.test\.ts$/.test(path));

// Every file that the command line can load, and every package that one of them asks for.
function graphFrom(...entries: string[]): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const waiting = entries;
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (files.has(path)) continue;
    files.add(path);
    for (const specifier of importsOf(path)) {
      if (specifier.startsWith(".")) waiting.push(join(dirname(path), specifier));
      else if (!specifier.startsWith("node:")) packages.add(packageOf(specifier));
    }
  }
  return { files, packages };
}

const packageOf = (specifier: string) =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };

it("the service asks for no package that a lean install leaves out", () => {
  const { files, packages } = graphFrom("settlement/cli/settle.mjs", "marketplace/cli/market.mjs");
  expect(files.size).toBeGreaterThan(100);
  expect([...packages].filter((name) => !(name in dependencies) && !builtinModules.includes(name))).toEqual([]);
  expect(packages).toContain("fastify");
});

it("every dependency is used by the service or the marketplace", () => {
  const { packages } = graphFrom("settlement/cli/settle.mjs", "marketplace/cli/market.mjs");
  expect(Object.keys(dependencies).filter((name) => !packages.has(name))).toEqual([]);
});

it("the service stands by itself: no file of it imports one from outside", () => {
  const files = filesOfTheService();
  const outside = files.flatMap((path) =>
    importsOf(path)
      .filter(
        (specifier) =>
          specifier.startsWith(".") && relative("settlement", join(dirname(path), specifier)).startsWith(".."),
      )
      .map((specifier) => `${path} imports ${specifier}`),
  );
  expect(files.length).toBeGreaterThan(100);
  expect(outside).toEqual([]);
});

// From the ground up. Whatever stands in one room imports, types included, from its own and from those above it in this list.
const ROOMS = [
  "clock.ts",
  "domain",
  "settings.ts",
  "deployment.ts",
  "chain",
  "ledger",
  "engine",
  "config.ts",
  "openEngine.ts",
  "views",
  "console",
  "daemon/observability",
  "daemon/http",
  "daemon/routes",
  "daemon/process",
  "cli",
];
const roomOf = (path: string) =>
  ROOMS.findIndex((room) => path === `settlement/${room}` || path.startsWith(`settlement/${room}/`));

it("imports between the rooms of the service point one way", () => {
  const wrong = filesOfTheService()
    .filter((path) => !path.includes("/testing/"))
    .flatMap((path) =>
      [...read(path).matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.[^"]+)"/g)]
        .map(([, specifier = ""]) => join(dirname(path), specifier))
        .filter((imported) => roomOf(path) === -1 || roomOf(imported) === -1 || roomOf(imported) > roomOf(path))
        .map((imported) => `${path} imports ${imported}`),
    );
  expect(wrong).toEqual([]);
  // The ledger and the chain know nothing of each other.
  const ledger = filesOfTheService().filter((path) => path.startsWith("settlement/ledger/"));
  expect(ledger.filter((path) => /"[./]+\/chain\//.test(read(path)))).toEqual([]);
});

it("the lock file names the packages of every platform, without which npm ci refuses it", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const named = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
  const missing = Object.values(packages)
    .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
    .filter((name) => !named.has(name));
  // `node scripts/generate/lock.mjs` adds them.
  expect(missing).toEqual([]);
});
