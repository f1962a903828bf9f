// The process in which Python runs: started by the marketplace for one turn, without an environment, with no right to files but
// Pyodide's own, and where the system allows it without a network. It reads one line of JSON for each call and writes one.
// Python has a thread of its own, so that this one notices when the marketplace is gone, whatever Python does meanwhile.
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import vm from "node:vm";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

type Start = { port: number; pyodide: string; packages: string | null };
type Lock = { packages: Record<string, { file_name: string; sha256: string; imports: string[]; depends: string[] }> };

// Made in the other realm, of nothing but its own objects.
type Realm = {
  place(path: string, bytes: number): Uint8Array;
  start(loadPyodide: unknown, createPyodideModule: unknown, lockFile: string, prelude: string): Promise<void>;
  holes(port: number): string;
  importsOf(code: string): string;
  install(path: string): void;
  run(request: string): string;
};

const MAX_HEAP_MB = 256;
// After each answer Python's thread is asked to say that it hears. What code has left running keeps it from that: it would be
// answered with a minute's silence, and compute for nobody until the turn is over. Counted in time of a processor, of which whoever
// waits for one uses none.
const HEARS = "";
const LEFT_MICROSECONDS = 2_000_000;
const LOOK_MS = 250;
// Not the realm's own, which code may have changed to be handed whatever is put there.
const { set } = Uint8Array.prototype;

const here = import.meta.dirname;

// Whatever could open a connection, in case that a way out of Python's realm into this one is found.
for (const name of ["fetch", "WebSocket", "EventSource", "Request", "Response", "BroadcastChannel"]) {
  Reflect.deleteProperty(globalThis, name);
}

if (isMainThread) {
  const thread = new Worker(import.meta.filename, { env: {}, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => thread.postMessage(line));
  input.once("close", () => process.kill(process.pid, "SIGKILL"));
  let answered: NodeJS.CpuUsage | undefined;
  thread.on("message", (line: string) => {
    answered = line === HEARS ? undefined : process.cpuUsage();
    if (line === HEARS) return;
    thread.postMessage(HEARS);
    process.stdout.write(`${line}\n`);
  });
  setInterval(() => {
    if (answered === undefined) return;
    const { user, system } = process.cpuUsage(answered);
    if (user + system < LEFT_MICROSECONDS) return;
    answered = undefined;
    process.stderr.write("the code of an earlier call goes on after its end\n", () =>
      process.kill(process.pid, "SIGKILL"),
    );
  }, LOOK_MS);
  thread.once("error", (error) => {
    process.stderr.write(`${error.message}\n`, () => process.exit(1));
  });
} else await serve(parentPort);

async function serve(port: typeof parentPort): Promise<void> {
  if (port === null) return;
  const waiting: string[] = [];
  let wake: () => void = () => undefined;
  port.on("message", (line: string) => {
    if (line === HEARS) return port.postMessage(HEARS);
    waiting.push(line);
    wake();
  });
  const next = async (): Promise<string> => {
    for (;;) {
      const line = waiting.shift();
      if (line !== undefined) return line;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const { port: canary, pyodide, packages } = JSON.parse(await next()) as Start;
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: true } });
  const realm = vm.runInContext(readFileSync(join(here, "realm.js"), "utf8"), context, {
    filename: "realm.js",
  }) as Realm;
  const put = (path: string, bytes: Uint8Array) => set.call(realm.place(path, bytes.length), bytes);
  const lockFile = readFileSync(join(packages ?? pyodide, "pyodide-lock.json"), "utf8");
  for (const name of ["pyodide.asm.wasm", "python_stdlib.zip"]) {
    put(`/pyodide/${name}`, readFileSync(join(pyodide, name)));
  }
  const { loadPyodide } = await evaluate("pyodide.mjs");
  const { default: createPyodideModule } = await evaluate("pyodide.asm.mjs");
  await realm.start(
    loadPyodide,
    createPyodideModule,
    lockFile,
    readFileSync(join(here, "..", "python", "prelude.py"), "utf8"),
  );

  const holes = [...(JSON.parse(realm.holes(canary)) as string[]), ...holesHere()];
  port.postMessage(
    JSON.stringify(holes.length > 0 ? { refused: holes } : { ready: true, isOffline: !(await reaches(canary)) }),
  );
  if (holes.length > 0) return;

  const lock = JSON.parse(lockFile) as Lock;
  const installed = new Set<string>();
  const missing = new Map<string, string>();
  for (;;) {
    const line = await next();
    const call = JSON.parse(line) as { code: string };
    install(JSON.parse(realm.importsOf(call.code)) as string[]);
    const said: unknown = realm.run(
      missing.size === 0 ? line : JSON.stringify({ ...call, missing: Object.fromEntries(missing) }),
    );
    // Whatever else it is was made to be it, and no answer.
    port.postMessage(typeof said === "string" && said !== HEARS ? said : "null");
  }

  async function evaluate(name: string): Promise<Record<string, unknown>> {
    // An import at run time, which is refused here, would be refused with an error of Node's.
    const source = readFileSync(join(pyodide, name), "utf8").replace(/(?<![\w$.])import\(/g, "importNothing(");
    const module = new vm.SourceTextModule(source, {
      context,
      identifier: `/pyodide/${name}`,
      initializeImportMeta: (meta) => {
        meta.url = `file:///pyodide/${name}`;
      },
    });
    await module.link(() => {
      throw new Error("nothing is imported here");
    });
    await module.evaluate();
    return module.namespace as Record<string, unknown>;
  }

  // The packages that code imports, and those that they need, as far as they are in the folder and are what the lock file says. Of the
  // others it is noted why they are not there.
  function install(names: readonly string[]): void {
    const wanted = Object.keys(lock.packages).filter((name) =>
      lock.packages[name]?.imports.some((one) => names.includes(one)),
    );
    for (const name of wanted) {
      const entry = lock.packages[name];
      if (entry === undefined || installed.has(name)) continue;
      installed.add(name);
      wanted.push(...entry.depends);
      const wheel =
        packages === null ? "there is no folder of packages beside the standard library" : wheelIn(packages, entry);
      if (typeof wheel === "string") {
        for (const one of entry.imports) missing.set(one, wheel);
        continue;
      }
      put(`/packages/${name}`, wheel);
      realm.install(`/packages/${name}`);
    }
  }
}

// What a package is made of, or why it is not used.
function wheelIn(folder: string, { file_name: name, sha256 }: Lock["packages"][string]): Uint8Array | string {
  let wheel: Uint8Array;
  try {
    wheel = readFileSync(join(folder, name));
  } catch {
    return `${name} is not in the folder of packages`;
  }
  return hash("sha256", wheel) === sha256 ? wheel : `${name} in the folder of packages is not what its lock file says`;
}

// What must hold in this realm, should somebody get into it.
function holesHere(): string[] {
  const holes: string[] = [];
  try {
    new Function("return 1");
    holes.push("a function from text outside of Python's realm");
  } catch {
    // As it should be.
  }
  if (!Object.isFrozen(Object.prototype)) holes.push("objects of Node that can be changed");
  if (process.permission?.has("fs.write") ?? true) holes.push("files that can be written");
  if (process.permission?.has("child") ?? true) holes.push("processes that can be started");
  return holes;
}

// Whether this process, as distinguished from Python in it, has a network. Where it has, one layer less holds.
function reaches(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: 2_000 });
    const end = (reached: boolean) => {
      socket.destroy();
      resolve(reached);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("timeout", () => end(false));
  });
}
