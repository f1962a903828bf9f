import { execFile } from "node:child_process";
import { existsSync, lstatSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// How a process is started in which Python runs, and what it is told first.
export type Launch = {
  command: string;
  args: readonly string[];
  first: Readonly<Record<string, unknown>>;
  // Whom it runs as, if it is somebody else than this process.
  as?: Identity;
};

type Identity = { uid: number; gid: number };

export type BackendName = "pyodide" | "bubblewrap";

// Resolves to how one is started. Throws if the system has not got what it takes.
export type Backend = { name: BackendName; launch(): Promise<Launch> };

export const createBackend = ({ backend, packages }: { backend: BackendName; packages: string | null }): Backend =>
  backend === "pyodide" ? createPyodideBackend({ packages }) : createBubblewrapBackend();

const HERE = import.meta.dirname;
const PROBE_MS = 30_000;
// 512 MiB, of which Python itself takes some 40.
const WASM_PAGES = 8_192;

// Python in WebAssembly, in a realm without Node, in a process without rights, in a network without a way out where the system
// lets us make one. Any of them alone would do.
export function createPyodideBackend({ packages }: { packages: string | null }): Backend {
  const pyodide = dirname(createRequire(import.meta.url).resolve("pyodide"));
  let offline: Promise<readonly string[]> | undefined;
  return {
    name: "pyodide",
    async launch() {
      offline ??= findOffline();
      const [command, ...args] = [
        ...(await offline),
        process.execPath,
        "--permission",
        "--allow-worker",
        ...[HERE, pyodide, ...(packages === null ? [] : [packages])].map((path) => `--allow-fs-read=${path}/`),
        "--disallow-code-generation-from-strings",
        "--frozen-intrinsics",
        `--wasm-max-mem-pages=${WASM_PAGES}`,
        "--max-old-space-size=128",
        "--experimental-vm-modules",
        "--no-warnings",
        join(HERE, "pyodide", "worker.ts"),
      ];
      return { command: command ?? process.execPath, args, first: { pyodide, packages } };
    },
  };
}

const EMPTY_NETWORKS = [
  ["unshare", "--net", "--"],
  ["unshare", "--user", "--map-root-user", "--net", "--"],
] as const;

// What to put before a command so that it runs in an empty network; nothing where the system has no such thing, or does not
// let us.
async function findOffline(): Promise<readonly string[]> {
  for (const prefix of EMPTY_NETWORKS) {
    const [command, ...args] = prefix;
    if (await succeeds(command, [...args, process.execPath, "--version"])) return prefix;
  }
  return [];
}

const succeeds = (command: string, args: readonly string[], as?: Identity) =>
  new Promise<boolean>((resolve) => {
    execFile(command, [...args], { env: {}, cwd: "/", timeout: PROBE_MS, ...as }, (error) => resolve(error === null));
  });

const PYTHON = "/usr/bin/python3";
const ROOM_BYTES = 64 * 1024 * 1024;
// What a distribution's Python needs of its machine, and nothing that tells whose machine it is.
const SYSTEM = ["/usr"];
// What is of this machine alone, and whatever is the project's own, which may be installed below one of these.
const MASKED = ["/usr/local", "/usr/src", join(HERE, "..", "..", "..")];
const EMPTY_BYTES = 4_096;
const LINKED = ["/bin", "/lib", "/lib64", "/lib32", "/sbin"];
const LINKS = LINKED.flatMap((path) =>
  isLink(path) ? ["--symlink", `usr${path}`, path] : ["--ro-bind-try", path, path],
);
const TRIED = ["/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts", "/etc/matplotlibrc"];

// The system's own Python, for those who want the scientific packages of their distribution, in namespaces of its own.
export function createBubblewrapBackend({ bwrap = "bwrap" }: { bwrap?: string } = {}): Backend {
  let identity: Promise<Identity | undefined> | undefined;
  let closed: Promise<readonly string[]> | undefined;
  return {
    name: "bubblewrap",
    async launch() {
      identity ??= findIdentity(bwrap);
      const as = await identity;
      closed ??= findClosed(bwrap, as);
      const args = [
        "--unshare-all",
        ...(await closed),
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--clearenv",
        ...Object.entries(ENVIRONMENT).flatMap(([name, value]) => ["--setenv", name, value]),
        ...SYSTEM.flatMap((path) => ["--ro-bind", path, path]),
        ...MASKED.filter((path) => isInside(path, SYSTEM) && existsSync(path)).flatMap((path) => [
          ...["--size", `${EMPTY_BYTES}`, "--tmpfs", path],
          ...["--remount-ro", path],
        ]),
        ...LINKS,
        ...TRIED.flatMap((path) => ["--ro-bind-try", path, path]),
        "--ro-bind",
        join(HERE, "python"),
        "/interpreter",
        // For whom the kernel's settings are files like any others: root needs no capability to write them.
        "--proc",
        "/proc",
        "--remount-ro",
        "/proc",
        "--dev",
        "/dev",
        // A file system of its own too, and as large as half of the machine's memory.
        "--size",
        `${ROOM_BYTES}`,
        "--tmpfs",
        "/dev/shm",
        "--remount-ro",
        "/dev",
        "--size",
        `${ROOM_BYTES}`,
        "--tmpfs",
        "/tmp",
        "--size",
        `${ROOM_BYTES}`,
        "--tmpfs",
        "/home",
        "--dir",
        "/home/work",
        "--chdir",
        "/home/work",
        "--remount-ro",
        "/",
        "--",
        PYTHON,
        "-I",
        "-B",
        "/interpreter/worker.py",
      ];
      return { command: bwrap, args, first: {}, ...(as && { as }) };
    },
  };
}

// A sandbox that can make no namespaces of its own reaches less of the kernel. Versions before 0.8 cannot see to it, nor can one that
// runs with the rights of root.
async function findClosed(bwrap: string, as: Identity | undefined): Promise<readonly string[]> {
  const wanted = ["--unshare-user", "--disable-userns"];
  const tried = ["--unshare-all", ...wanted, "--ro-bind", "/", "/", PYTHON, "-V"];
  return (await succeeds(bwrap, tried, as)) ? wanted : [];
}

const NOBODY: Identity = { uid: 65_534, gid: 65_534 };

// Root is root in a sandbox too, whatever it is called there: it has no limit to its processes, and opens what only root may. Where
// nobody can start one and read what is the interpreter's, it is nobody's.
async function findIdentity(bwrap: string): Promise<Identity | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const own = ["--ro-bind", join(HERE, "python"), "/interpreter", PYTHON, "-I", "/interpreter/prelude.py"];
  return (await succeeds(bwrap, ["--unshare-all", "--ro-bind", "/usr", "/usr", ...LINKS, ...own], NOBODY))
    ? NOBODY
    : undefined;
}

function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

const ENVIRONMENT = {
  HOME: "/home/work",
  LANG: "C.UTF-8",
  PATH: "/usr/bin",
  MPLBACKEND: "agg",
  MPLCONFIGDIR: "/tmp",
  OMP_NUM_THREADS: "1",
  OPENBLAS_NUM_THREADS: "1",
};

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
