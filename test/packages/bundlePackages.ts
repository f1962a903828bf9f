import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { PRELOAD } from "../../scripts/process/startProgram.ts";

const ROOT = join(import.meta.dirname, "../..");

// The programs that tests start over and over.
const PROGRAMS = [
  "settlement/cli/index.ts",
  "marketplace/cli/index.ts",
  "test/faults/daemon/daemonProcess.ts",
  "test/local/engine/engineProcess.ts",
];

// They look for files beside their own, which would not be beside the bundle.
const AS_INSTALLED = ["@fastify/swagger-ui", "pyodide"];

// Packages of CommonJS ask for Node's own modules in this way.
const REQUIRE = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;

// A third of what a daemon's start costs is finding and reading the thousand files of its packages, and tests start hundreds of
// daemons. So the packages of a run are written into a few files when it begins, from what is installed then, and every program
// that is started with an environment of its own gets them from there. The program's own code is no part of it.
export default async function setup(): Promise<() => void> {
  // Inside of the project, for what the packages still ask of node_modules.
  mkdirSync(join(ROOT, "cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, "cache", "packages-"));
  const preload = join(folder, "preload.mjs");
  const files = await bundlePackages(folder);
  const urls = Object.entries(files).map(([specifier, file]) => [specifier, pathToFileURL(file).href]);
  const substitute = pathToFileURL(join(import.meta.dirname, "substitute.mjs")).href;
  writeFileSync(
    preload,
    `import { substitute } from "${substitute}";\nsubstitute(${JSON.stringify(Object.fromEntries(urls))});\n`,
  );
  process.env[PRELOAD] = pathToFileURL(preload).href;
  return () => rmSync(folder, { recursive: true, force: true });
}

const NODE = join(ROOT, "node_modules", ".bin", "node");
const MAX_NAMES_BYTES = 2 ** 20;

// Writes what the programs import from packages into a folder, and says which file stands for which package.
async function bundlePackages(folder: string): Promise<Record<string, string>> {
  const specifiers = await importedPackages();
  const names = new Map(specifiers.map((specifier) => [specifier.replaceAll(/\W/g, "_"), specifier] as const));
  const exported = exportsOf(specifiers);
  await build({
    absWorkingDir: ROOT,
    entryPoints: Object.fromEntries([...names.keys()].map((name) => [name, `exports:${name}`])),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // What several packages need is there once, as it is in node_modules.
    splitting: true,
    platform: "node",
    format: "esm",
    banner: { js: REQUIRE },
    external: AS_INSTALLED,
    logLevel: "error",
    plugins: [
      {
        name: "exports",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^exports:/ }, ({ path }) => ({
            path: path.replace("exports:", ""),
            namespace: "exports",
          }));
          onLoad({ filter: /./, namespace: "exports" }, ({ path }) => {
            const specifier = names.get(path) ?? path;
            const same = exported.get(specifier)?.filter((name) => /^[\w$]+$/.test(name)) ?? [];
            return { contents: `export { ${same.join(", ")} } from ${JSON.stringify(specifier)};`, resolveDir: ROOT };
          });
        },
      },
    ],
  });
  return Object.fromEntries([...names].map(([name, specifier]) => [specifier, join(folder, `${name}.mjs`)]));
}

async function importedPackages(): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS,
    outdir: "unwritten",
    write: false,
    metafile: true,
    bundle: true,
    packages: "external",
    splitting: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports);
  const packages = imports.filter(({ external, path }) => external && !path.startsWith("node:"));
  return [...new Set(packages.map(({ path }) => path))].filter((path) => !AS_INSTALLED.includes(path)).sort();
}

// Every name that the packages export to whoever imports them, as Node itself has it: those of CommonJS are what it finds in them.
function exportsOf(specifiers: readonly string[]): Map<string, string[]> {
  const program = `
    const found = await Promise.all(${JSON.stringify(specifiers)}.map(async (name) => [name, Object.keys(await import(name))]));
    process.stdout.write(JSON.stringify(found));`;
  const options = { cwd: ROOT, encoding: "utf8", maxBuffer: MAX_NAMES_BYTES } as const;
  const found = execFileSync(NODE, ["--input-type=module", "--no-warnings", "-e", program], options);
  return new Map(JSON.parse(found) as [string, string[]][]);
}
