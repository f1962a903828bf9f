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

// Writes what the programs import from packages into a folder, and says which file stands for which package.
async function bundlePackages(folder: string): Promise<Record<string, string>> {
  const names = new Map(
    (await importedPackages()).map((specifier) => [specifier.replaceAll(/\W/g, "_"), specifier] as const),
  );
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
          onLoad({ filter: /./, namespace: "exports" }, async ({ path }) => {
            return { contents: await sameExports(names.get(path) ?? path), resolveDir: ROOT };
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

// Every name that a package exports to whoever imports it. Those of CommonJS are what Node finds in it.
async function sameExports(specifier: string): Promise<string> {
  const names = Object.keys(await import(specifier)).filter((name) => /^[\w$]+$/.test(name));
  return `export { ${names.join(", ")} } from ${JSON.stringify(specifier)};`;
}
