// Writes the packages of other platforms into package-lock.json after a change of the dependencies. npm leaves out those
// that the registry it asks does not have, `npm ci` then refuses the file on every platform ("Missing: … from lock file"),
// and neither `npm install` nor its --os and --cpu options add them. Their versions are pinned by the packages that ask for
// them, and their names say which machines they are for.
import { readFileSync, writeFileSync } from "node:fs";

const PATH = "package-lock.json";
const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = {
  amd64: "x64",
  x64: "x64",
  arm64: "arm64",
  arm: "arm",
  ppc64: "ppc64",
  s390x: "s390x",
  wasm32: "wasm32",
};

const lock = JSON.parse(readFileSync(PATH, "utf8"));
const known = new Set(Object.keys(lock.packages).map((path) => path.split("node_modules/").at(-1)));
let added = 0;

for (const { optionalDependencies = {}, dev, peer } of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (known.has(name)) continue;
    known.add(name);
    const words = name.split("/").at(-1).split("-");
    const cpu = words.flatMap((word) => PROCESSORS[word] ?? []);
    const os = words.filter((word) => SYSTEMS.includes(word));
    const libc = words.includes("musl") ? ["musl"] : words.some((word) => word.startsWith("gnu")) ? ["glibc"] : [];
    if (cpu.length === 0) throw new Error(`the name of ${name} does not say which machines it is for: add it by hand`);
    lock.packages[`node_modules/${name}`] = {
      version,
      cpu,
      ...(dev && { dev }),
      ...(libc.length > 0 && { libc }),
      optional: true,
      ...(os.length > 0 && { os }),
      ...(peer && { peer }),
    };
    added += 1;
  }
}

const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en"));
writeFileSync(PATH, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`);
console.log(`${added} packages of other platforms were added to ${PATH}.`);
