import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type InterpreterCall, readAnswer } from "./call.ts";
import { createInterpreters, type Interpreter } from "./createInterpreters.ts";
import { type Backend, createBubblewrapBackend, createPyodideBackend, type Launch } from "./launch.ts";
import { openSandbox } from "./openSandbox.ts";
import { callOf, findProgram, outputOf } from "./testing/calls.ts";

const PRICES = outputOf("list_prices_1", {
  rows: [
    { day: "2026-01-01", price: 10 },
    { day: "2026-01-02", price: 12 },
    { day: "2026-01-03", price: 9 },
  ],
});
const VOLUMES = outputOf("list_volumes_1", [
  { time: 1_767_225_600, volume: 5 },
  { time: 1_767_312_000, volume: 6 },
  { time: 1_767_312_000, volume: 7 },
]);
const OUTPUTS = [PRICES, VOLUMES];

const PNG = `
import struct, zlib
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
png = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 0, 0, 0, 0))
png += chunk(b"IDAT", zlib.compress(b"\\0\\1\\2\\3" * 2)) + chunk(b"IEND", b"")
`;

// What a backend has on this machine. A machine without bubblewrap has one backend less, and a test that says so.
const bwrap = findProgram("bwrap", process.env.PATH);
const hasBubblewrap =
  bwrap !== null && works(bwrap, ["--unshare-all", "--ro-bind", "/", "/", "/usr/bin/python3", "-V"]);
// With its scientific packages, where the distribution's are installed. What is below /usr/local is not the distribution's, and is not seen.
const hasPackage = (name: string) =>
  hasBubblewrap &&
  works("/usr/bin/python3", ["-I", "-c", `import ${name}; assert not ${name}.__file__.startswith("/usr/local/")`]);
const hasNumpy = hasPackage("numpy");
const hasPandas = hasPackage("pandas");
const hasMatplotlib = hasPackage("matplotlib");
const pyodide = createPyodideBackend({ packages: null });
// The same where the system makes no network for it: what is left must hold alone. What takes long and has nothing to do with
// networks is not tried a second time.
const withoutNetwork: Backend = { name: "pyodide", launch: async () => withoutNamespace(await pyodide.launch()) };
const backends: Backend[] = [pyodide, withoutNetwork, ...(hasBubblewrap ? [createBubblewrapBackend({ bwrap })] : [])];
const titles = ["Pyodide", "Pyodide without a network namespace", "the system's Python in bubblewrap"];

const CLOSED = [..."--unshare-all --unshare-user --disable-userns --ro-bind / / /usr/bin/python3 -V".split(" ")];

function works(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function withoutNamespace({ command, args, first }: Launch): Launch {
  const node = [command, ...args].indexOf(process.execPath);
  const [program = command, ...rest] = [command, ...args].slice(node);
  return { command: program, args: rest, first };
}

function createLog() {
  const lines: string[] = [];
  const waiters: { word: string; resolve: () => void }[] = [];
  const take = (_fields: unknown, line = "") => {
    lines.push(line);
    for (const { word, resolve } of waiters) if (line.includes(word)) resolve();
  };
  // Resolves at the next line that has a word in it.
  const said = (word: string) => new Promise<void>((resolve) => waiters.push({ word, resolve }));
  return { lines, said, log: { info: take, warn: take } as never };
}

const PATIENTLY = { timeout: 120_000 };
const never = new AbortController().signal;

describe.each(backends.map((backend, i) => ({ title: titles[i], backend })))("Python in $title", ({ backend }) => {
  const { lines, said, log } = createLog();
  const interpreters = createInterpreters({ backend, log });
  let interpreter: Interpreter;
  beforeAll(() => {
    interpreter = interpreters.open(never, "somebody");
  });
  afterAll(() => interpreter.dispose());

  const run = (code: string, expected: readonly string[] = [], inputs: Record<string, string> = {}) =>
    interpreter.run(callOf(code, expected, inputs), OUTPUTS);
  async function resultOf(code: string): Promise<unknown> {
    const outcome = await run(code);
    expect(outcome).toMatchObject({ kind: "computed" });
    return outcome.kind === "computed" ? outcome.result : null;
  }

  it("computes with what tools have answered, by alias and by the names that a call gives", async () => {
    const code = "print('so', len(p['rows']))\nset_result({'sum': sum(r['price'] for r in list_prices_1['rows'])})";
    expect(await run(code, [], { p: "list_prices_1" })).toEqual({
      kind: "computed",
      stdout: "so 3\n",
      hasResult: true,
      result: { sum: 31 },
      charts: [],
      images: [],
    });
    expect(
      await resultOf("import json\nset_result(json.load(open('inputs.json')) == inputs and sorted(inputs))"),
    ).toEqual(["list_prices_1", "list_volumes_1"]);
  });

  it("keeps no name of one call for the next, and its characters whole", async () => {
    await resultOf("secret = 1\nset_result('Zoë 🐘 東京')");
    expect(await resultOf("set_result(['secret' in globals(), 'Zoë 🐘 東京', chr(0x1F418)])")).toEqual([
      false,
      "Zoë 🐘 東京",
      "🐘",
    ]);
  });

  it("writes a span of numbers or of time as the scientific packages print it", async () => {
    const span = (name: string, text: string) => `type("${name}", (), {"__str__": lambda self: "${text}"})()`;
    const code = `set_result([${span("Interval", "(0, 10]")}, ${span("Period", "2026-01")}])`;
    expect(await resultOf(code)).toEqual(["(0, 10]", "2026-01"]);
  });

  it("says what went wrong in the code, and where", async () => {
    expect(await run("x = 1\ny = x / 0")).toMatchObject({
      kind: "rejected",
      stage: "python",
      mayRepair: true,
      message: "ZeroDivisionError: division by zero (line 2)",
    });
    expect(await run("print('before'); raise SystemExit(3)")).toMatchObject({
      stage: "python",
      message: /SystemExit.*before/s,
    });
    expect(await run("def")).toMatchObject({ stage: "python", message: expect.stringContaining("SyntaxError") });
    expect(await run("set_result(object())")).toMatchObject({
      message: expect.stringContaining("cannot be written as JSON"),
    });
  });

  it("makes charts and images that were declared, and rejects the others", async () => {
    const chart =
      "render_chart({'type': 'line', 'xKey': 'day', 'series': [{'key': 'price'}]}, list_prices_1['rows'], 'Prices')";
    expect(await run(chart, ["chart"])).toMatchObject({
      charts: [
        { kind: "chart", title: "Prices", spec: { type: "line" }, data: [{ day: "2026-01-01", price: 10 }, {}, {}] },
      ],
    });
    expect(await run(`${PNG}\nprint(save_figure("two rows", "Rows", png))`, ["image"])).toMatchObject({
      stdout: "out/images/1.png\n",
      images: [{ alt: "two rows", title: "Rows", width: 3, height: 2, png: expect.any(Buffer) }],
    });
    expect(await run(chart)).toMatchObject({ stage: "artifacts", message: expect.stringContaining("does not have") });
    expect(await run("1", ["image"])).toMatchObject({
      stage: "artifacts",
      message: expect.stringContaining("none was made"),
    });
    expect(await run(chart.replace("'line'", "'pie'"), ["chart"])).toMatchObject({ stage: "artifacts" });
    expect(await run("save_figure('x', fig=b'GIF89a')", ["image"])).toMatchObject({
      message: expect.stringContaining("no PNG"),
    });
    const five = Array.from({ length: 5 }, () => chart).join("\n");
    expect(await run(five, ["chart"])).toMatchObject({ message: expect.stringContaining("at most 4") });
  });

  it("merges series of different tools by moment, without making rows or losing columns", async () => {
    expect(await resultOf("set_result(safe_merge_timeseries(list_prices_1['rows'], list_volumes_1))")).toEqual([
      { day: "2026-01-01", price: 10, volume: 5 },
      { day: "2026-01-02", price: 12, volume: 7 },
    ]);
    expect(
      await resultOf("set_result(safe_merge_timeseries(list_prices_1['rows'], list_prices_1['rows'][:1], how='left'))"),
    ).toEqual([
      { day: "2026-01-01", price_left: 10, price_right: 10 },
      { day: "2026-01-02", price_left: 12, price_right: null },
      { day: "2026-01-03", price_left: 9, price_right: null },
    ]);
    expect(await resultOf("set_result(align_timeseries(list_prices_1['rows'], list_volumes_1, how='outer'))")).toEqual([
      [
        { day: "2026-01-01", price: 10 },
        { day: "2026-01-02", price: 12 },
        { day: "2026-01-03", price: 9 },
      ],
      [
        { time: 1_767_225_600, volume: 5 },
        { time: 1_767_312_000, volume: 7 },
        { time: "2026-01-03", volume: null },
      ],
    ]);
    expect(
      await resultOf(
        "set_result([r['price_change'] for r in derive_change_series(list_prices_1['rows'], 'price', kind='percent')])",
      ),
    ).toEqual([null, 20, -25]);
    expect(await run("safe_merge_timeseries([{'a': 1}], [{'a': 1}])")).toMatchObject({
      message: expect.stringContaining("name it with on="),
    });
  });

  it.each([
    ["a socket", "import socket; socket.create_connection(('127.0.0.1', 80), 2)"],
    ["a socket of the outside", "import socket; socket.create_connection(('192.0.2.1', 80), 2)"],
    [
      "a datagram",
      "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('127.0.0.1', 53)); socket.getaddrinfo('example.com', 80)[99]",
    ],
    ["urllib", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:80/', timeout=2)"],
    ["http.client", "import http.client; http.client.HTTPConnection('127.0.0.1', 80, timeout=2).request('GET', '/')"],
    ["Pyodide's own fetch", "from pyodide.http import open_url; open_url('http://127.0.0.1/')"],
    ["the process", "import js; js.process.exit()"],
    ["Node's modules", "import js; js.require('fs')"],
    ["what JavaScript knows by itself", "import js; js.Object"],
    ["JavaScript from text", "from pyodide.code import run_js; run_js('globalThis')"],
    ["a function from text", "import pyodide_js; pyodide_js.runPython.constructor('return process')()"],
    ["a generator from text", "import pyodide_js; pyodide_js.loadPackage.constructor('yield process')()"],
    ["the host's folders", "import pyodide_js; pyodide_js.mountNodeFS('/mnt', '/etc'); open('/mnt/passwd')"],
    ["a file of the host", "open('/etc/passwd')"],
    ["the memory of a process", "open('/proc/self/mem', 'r+b').write(b'')  ; open('/etc/shadow')"],
    ["a file outside of its own folders", "open('/usr/lib/escape', 'w')"],
    ["a fork", "import os; os.fork() or os._exit(0)"],
    ["a program", "import subprocess; subprocess.run(['/bin/ls'], check=True)"],
    ["a shell", "import os; assert os.system('ls') == 0"],
    ["another program in its place", "import os; os.execv('/bin/ls', ['ls'])"],
    ["C", "import ctypes; assert ctypes.CDLL(None).open(b'/etc/passwd', 0) >= 0"],
  ])("does not get out through %s", async (_way, code) => {
    expect(await run(code)).toMatchObject({ kind: "rejected", stage: "python" });
    expect(await resultOf("set_result('still here')")).toBe("still here");
  });

  // Whoever has one object of Node's has its constructor's constructor, and needs only one more layer to give way.
  it.runIf(backend === pyodide)("meets no object that is not of its own realm, however far it looks", async () => {
    const caught = await run(`
import builtins, pyodide_js
from pyodide.code import run_js
from pyodide.ffi import JsProxy, create_proxy
builtins.found = [getattr(pyodide_js, name, None) for name in dir(pyodide_js)]
def keep(one):
    builtins.found.append(getattr(one, "js_error", one))
builtins.keep = create_proxy(keep)
api = pyodide_js._api
for way in (
    lambda: run_js("1"),
    lambda: pyodide_js.runPython.constructor("return 1"),
    lambda: pyodide_js.loadPackage("numpy"),
    lambda: pyodide_js.mountNodeFS("/mnt", "/etc"),
    lambda: pyodide_js.FS.open("/none", "r"),
    lambda: pyodide_js.unpackArchive(1, "zip"),
    lambda: pyodide_js.pyimport("nothing_here"),
    lambda: api.initializeNodeSockFS(),
    lambda: api.loadDynlib("/none"),
    lambda: api.loadBinaryFile("/none"),
):
    try:
        result = way()
        keep(result)
        result.then(builtins.keep, builtins.keep)
    except BaseException as error:
        keep(error)
`);
    expect(caught).toMatchObject({ kind: "computed" });
    // What is refused later has been refused by now.
    const [objects, realms] = (await resultOf(`
import builtins
from pyodide.ffi import JsProxy
seen, queue, realms = {}, [one for one in builtins.found if isinstance(one, JsProxy)], {}
while queue and len(seen) < 20_000:
    one = queue.pop()
    if one.js_id in seen:
        continue
    # Held, so that no other is given its id.
    seen[one.js_id] = one
    name = ""
    try:
        realm = one.constructor.constructor
        realms[realm.js_id] = realm
        name = one.constructor.name
    except Exception:
        pass
    if name.endswith("Array") and name != "Array" or name == "ArrayBuffer":
        continue
    for part in dir(one)[:500]:
        try:
            value = getattr(one, part)
        except BaseException:
            continue
        if isinstance(value, JsProxy):
            queue.append(value)
set_result([len(seen), len(realms)])`)) as [number, number];
    expect(objects).toBeGreaterThan(500);
    expect(realms).toBe(1);
  });

  it("says in a sentence that a package is not there, and what to do without it", async () => {
    expect(await run("import no_such_package.part")).toMatchObject({
      kind: "rejected",
      mayRepair: true,
      message: expect.stringMatching(
        /No module named 'no_such_package'.*\(line 1\); no_such_package cannot be imported here: it is not installed in this sandbox; compute it without no_such_package/s,
      ),
    });
  });

  it.runIf(backend.name === "pyodide")(
    "refuses numpy without a folder of packages in a sentence, not by a name alone",
    async () => {
      expect(await run("import numpy as np")).toMatchObject({
        kind: "rejected",
        message: expect.stringContaining("there is no folder of packages beside the standard library"),
      });
    },
  );

  it.each(["requests", "urllib3", "httpx", "aiohttp", "yfinance"])(
    "computes, and has no %s to fetch with",
    async (name) => {
      expect(await run(`import ${name}`)).toMatchObject({
        kind: "rejected",
        mayRepair: true,
        message: expect.stringContaining("nothing is fetched here, only computed from what tools have answered"),
      });
    },
  );

  it("sees neither our environment nor our files", async () => {
    const seen = await resultOf(`
import os
set_result({"names": sorted(os.environ), "root": sorted(os.listdir("/")), "here": sorted(os.listdir("."))})`);
    const { names, root, here } = seen as { names: string[]; root: string[]; here: string[] };
    expect(names.filter((name) => /TOKEN|SECRET|KEY|NODE|npm|VITEST/i.test(name))).toEqual([]);
    expect(root.filter((name) => ["root", "etc/passwd", "work", "var", "opt"].includes(name))).toEqual([]);
    expect(here).toEqual(expect.arrayContaining(["inputs.json"]));
  });

  it.runIf(backend !== withoutNetwork)("has room for what is sensible, and says so where it is not", async () => {
    expect(await run("a = []\nwhile True: a.append(bytearray(10_000_000))")).toMatchObject({
      kind: "rejected",
      message: expect.stringContaining("MemoryError"),
    });
    const loud = await run("for _ in range(2_000): print('x' * 1_000)");
    if (loud.kind !== "computed") throw new Error(loud.message);
    expect(loud.stdout.length).toBeLessThan(70_000);
    expect(loud.stdout).toMatch(/\[\d+ more characters\]$/);
    expect(await run("set_result('x' * 2_000_000)")).toMatchObject({
      message: expect.stringContaining("make it smaller"),
    });
    expect(await run("render_chart({}, [{'a': 1}] * 6_000)", ["chart"])).toMatchObject({
      message: expect.stringContaining("aggregate them"),
    });
    expect(await resultOf("set_result(1)")).toBe(1);
  });

  it("is one process for all calls of a turn, and says when each begins and ends", () => {
    const ids = new Set(lines.flatMap((line) => /sandboxId=([0-9a-f-]{36})/.exec(line)?.[1] ?? []));
    expect(ids.size).toBe(1);
    expect(lines).toContainEqual(
      expect.stringMatching(
        /^\[python-sandbox-latency-probe\] event=python_call_start sandboxId=\S+ inputsBytes=\d+ codeBytes=\d+ inputAliasCount=2$/,
      ),
    );
    expect(lines).toContainEqual(
      expect.stringMatching(
        /event=python_call_success sandboxId=\S+ stdoutChars=5 artifactCount=0 chartCount=0 imageCount=0$/,
      ),
    );
    expect(lines).toContainEqual(
      expect.stringMatching(/event=python_call_failure sandboxId=\S+ stage=python message="Zero/),
    );
  });

  it.runIf(backend !== withoutNetwork)(
    "that never comes to an end is ended, the next call has another, and that one ends with whoever asked",
    async () => {
      const going = new AbortController();
      const own = createInterpreters({ backend, log, limits: { callMs: 1_000 } }).open(going.signal, "somebody");
      const endless = () => own.run(callOf("while True: pass"), OUTPUTS);
      try {
        expect(await endless()).toMatchObject({ stage: "timeout", mayRepair: true });
        expect(await own.run(callOf("set_result(2)"), OUTPUTS)).toMatchObject({ result: 2 });
        const begun = said("python_call_start");
        const left = endless();
        await begun;
        going.abort();
        expect(await left).toMatchObject({ kind: "rejected", stage: "closed" });
      } finally {
        await own.dispose();
      }
    },
  );
});

if (!hasBubblewrap) {
  it("on this machine there is no bubblewrap that works, and whoever wants it is told so", async () => {
    const own = createInterpreters({
      backend: createBubblewrapBackend({ bwrap: "/nowhere/bwrap" }),
      ...createLog(),
    }).open(never, "somebody");
    expect(await own.run(callOf("1"), OUTPUTS)).toMatchObject({ stage: "start", mayRepair: false });
    await own.dispose();
  });
}

describe("a sandbox", () => {
  it("that has a way out is not used", async () => {
    const leaky: Backend = {
      name: "pyodide",
      launch: async () => ({
        command: process.execPath,
        args: ["-e", "process.stdin.once('data', () => console.log(JSON.stringify({ refused: ['urllib'] })))"],
        first: {},
      }),
    };
    await expect(openSandbox(leaky)).rejects.toThrow("could reach urllib");
    const lying: Backend = {
      name: "pyodide",
      launch: async () => ({
        command: process.execPath,
        args: [
          "-e",
          `process.stdin.once("data", (line) => require("net").connect(JSON.parse(line).port, "127.0.0.1", function () {
             this.once("close", () => console.log(JSON.stringify({ ready: true, isOffline: true }))).resume() }))`,
        ],
        first: {},
      }),
    };
    await expect(openSandbox(lying)).rejects.toThrow("could reach a connection");
  });

  it("whose rights were not taken from it is not used", async () => {
    const { command, args, first } = withoutNamespace(await pyodide.launch());
    const rights = args.filter((arg) => !/^--(permission|allow-|frozen|disallow)/.test(arg));
    const open: Backend = { name: "pyodide", launch: async () => ({ command, args: rights, first }) };
    await expect(openSandbox(open)).rejects.toThrow(
      /a function from text outside of Python's realm.*can be changed.*can be written.*can be started/,
    );
  });

  it.each([
    ["says nothing", "0", "start"],
    ["says what it should not", "console.log('hello')", "start"],
    ["never ends a line", "for (;;) require('fs').writeSync(1, 'x'.repeat(65536))", "output"],
  ])("that %s is ended", async (_what, program, stage) => {
    const odd: Backend = {
      name: "pyodide",
      launch: async () => ({ command: process.execPath, args: ["-e", program], first: {} }),
    };
    await expect(openSandbox(odd)).rejects.toMatchObject({ stage });
  });

  it.each([
    ["with its answer", "process.stdout.write(line + line)"],
    ["after its answer", "process.stdout.write(line); setInterval(() => process.stdout.write(line), 10)"],
  ])(
    "that says more than it was asked for, %s, is ended before anybody takes it for an answer",
    async (_when, more) => {
      const talkative: Backend = {
        name: "pyodide",
        launch: async () => ({
          command: process.execPath,
          args: [
            "-e",
            `const line = JSON.stringify({ ready: true, isOffline: true }) + "\\n";
           process.stdin.resume(); process.stdin.once("data", () => { ${more} });`,
          ],
          first: {},
        }),
      };
      // What comes while something is asked is an answer, until something comes while nothing is.
      const outcome = async () => {
        const sandbox = await openSandbox(talkative);
        const ask = () =>
          sandbox.ask("{}", 20_000).then(
            () => "answered",
            ({ stage }) => stage,
          );
        await expect.poll(ask, PATIENTLY).toBe("output").finally(sandbox.close);
      };
      // Already while it is started, or as soon as something comes while nothing is asked.
      await outcome().catch((error) => expect(error).toMatchObject({ stage: "output" }));
    },
  );

  it("that takes more memory than it may is ended", async () => {
    const log = createLog();
    const own = createInterpreters({ backend: pyodide, ...log, limits: { memoryBytes: 300 * 1024 * 1024 } }).open(
      never,
      "somebody",
    );
    try {
      const outcome = await own.run(callOf("a = bytearray(250_000_000)\nwhile True: pass"), OUTPUTS);
      // Where the system does not say how much memory a process has, it is its time that ends.
      expect(outcome).toMatchObject({ stage: process.platform === "linux" ? "memory" : "timeout" });
    } finally {
      await own.dispose();
    }
  });

  it("that has started another is ended for what that takes", async () => {
    const program = `
      process.stdin.once("data", () => {
        console.log(JSON.stringify({ ready: true, isOffline: true }));
        process.stdin.once("data", () => (globalThis.kept = Buffer.alloc(400e6, 1)));
      }).once("end", () => process.exit());
      setInterval(() => undefined, 1e6);`;
    const within: Backend = {
      name: "bubblewrap",
      // A shell that waits for it, as bubblewrap does.
      launch: async () => ({
        command: "/bin/sh",
        args: ["-c", '"$0" -e "$1"; true', process.execPath, program],
        first: {},
      }),
    };
    const limits = { memoryBytes: 300 * 1024 * 1024, ...(process.platform !== "linux" && { callMs: 5_000 }) };
    const own = createInterpreters({ backend: within, ...createLog(), limits }).open(never, "somebody");
    try {
      const outcome = await own.run(callOf("1"), OUTPUTS);
      expect(outcome).toMatchObject({ stage: process.platform === "linux" ? "memory" : "timeout" });
    } finally {
      await own.dispose();
    }
  });

  it.runIf(process.platform === "linux")(
    "ends with the process that has started it, whatever Python does",
    async () => {
      const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);
      const program = `
      import { createInterpreters } from ${here("./createInterpreters.ts")};
      import { createPyodideBackend } from ${here("./launch.ts")};
      import { callOf, outputOf } from ${here("./testing/calls.ts")};
      const log = { info: ({ event }) => console.log(event), warn() {} };
      createInterpreters({ backend: createPyodideBackend({ packages: null }), log })
        .open(new AbortController().signal, "somebody")
        .run(callOf("while True: pass"), [outputOf("a_1", 1)]);`;
      const owner = spawn(process.execPath, ["--input-type=module", "--no-warnings", "-e", program], { stdio: "pipe" });
      let printed = "";
      owner.stdout.on("data", (chunk: Buffer) => {
        printed += chunk.toString();
      });
      await expect.poll(() => printed, PATIENTLY).toContain("python_call_start");
      const children = readFileSync(`/proc/${owner.pid}/task/${owner.pid}/children`, "utf8").trim().split(" ");
      expect(children).toHaveLength(1);
      owner.kill("SIGKILL");
      await expect.poll(() => children.filter((pid) => existsSync(`/proc/${pid}`)), PATIENTLY).toEqual([]);
    },
  );

  it("is not started for somebody who has gone meanwhile", async () => {
    const going = new AbortController();
    const late: Backend = {
      name: "pyodide",
      launch: async () => {
        going.abort();
        return { command: process.execPath, args: ["-e", "setInterval(() => undefined, 1e6)"], first: {} };
      },
    };
    await expect(openSandbox(late, undefined, going.signal)).rejects.toMatchObject({ stage: "closed" });
  });

  it("is to be had by everybody, whatever one asks for", async () => {
    const { log, said } = createLog();
    const program = `process.stdin.once("data", () => console.log(JSON.stringify({ ready: true, isOffline: true })));
      process.stdin.once("end", () => process.exit())`;
    const busy: Backend = {
      name: "pyodide",
      launch: async () => ({ command: process.execPath, args: ["-e", program], first: {} }),
    };
    const going = new AbortController();
    const interpreters = createInterpreters({ backend: busy, log });
    const openFor = (owner: string) => interpreters.open(going.signal, owner);
    const greedy = Array.from({ length: 6 }, () => openFor("greedy"));
    const running = greedy.map((one) => one.run(callOf("1"), OUTPUTS));
    await said("python_call_start");
    const other = openFor("other");
    const started = said("codeBytes=4");
    running.push(other.run(callOf("2222"), OUTPUTS));
    await started;
    going.abort();
    await Promise.all([...running, ...[...greedy, other].map((one) => one.dispose())]);
  });

  it("that is not to be had for a while is gone on without, and is not waited for again", async () => {
    const { log, said } = createLog();
    const program = `process.stdin.once("data", () => console.log(JSON.stringify({ ready: true, isOffline: true })));
      process.stdin.once("end", () => process.exit())`;
    const busy: Backend = {
      name: "pyodide",
      launch: async () => ({ command: process.execPath, args: ["-e", program], first: {} }),
    };
    const going = new AbortController();
    const interpreters = createInterpreters({ backend: busy, log, limits: { waitMs: 1_000 } });
    const openFor = (owner: string) => interpreters.open(going.signal, owner);
    const first = ["a", "b", "c", "d"].map(openFor);
    const running = first.map(async (one) => {
      const begun = said("python_call_start");
      const ended = one.run(callOf("1"), OUTPUTS);
      await begun;
      return { ended };
    });
    const begun = await Promise.all(running);
    const late = openFor("e");
    const refused = { kind: "rejected", stage: "busy", mayRepair: false, message: expect.stringContaining("taken") };
    expect(await late.run(callOf("1"), OUTPUTS)).toMatchObject(refused);
    // Not even where there is a place by now.
    going.abort();
    expect(await late.run(callOf("1"), OUTPUTS)).toMatchObject(refused);
    await Promise.all([...begun.map(({ ended }) => ended), ...[...first, late].map((one) => one.dispose())]);
  });

  it("of the system's Python writes nowhere without a bound", async () => {
    const { args } = await createBubblewrapBackend().launch();
    const readOnly = args.flatMap((arg, i) => (arg === "--remount-ro" ? [args[i + 1]] : []));
    const free = args.flatMap((arg, i) => (arg === "--tmpfs" && args[i - 2] !== "--size" ? [args[i + 1]] : []));
    expect(free).toEqual([]);
    expect(readOnly).toEqual(expect.arrayContaining(["/dev", "/proc", "/"]));
  });

  it.runIf(hasBubblewrap)(
    "of the system's Python sees nothing that is of this machine alone, and makes no namespaces",
    async () => {
      const own = createInterpreters({ backend: createBubblewrapBackend({ bwrap: bwrap ?? "" }), ...createLog() }).open(
        never,
        "somebody",
      );
      const code = `
import ctypes, os
CLONE_NEWUSER = 0x10000000
masked = [path for path in ("/usr/local", "/usr/src", ${JSON.stringify(process.cwd())}) if os.path.isdir(path) and os.listdir(path)]
set_result({"seen": masked, "userns": ctypes.CDLL(None).unshare(CLONE_NEWUSER)})`;
      try {
        const seen = await own.run(callOf(code), OUTPUTS);
        const canClose = works(bwrap ?? "", CLOSED);
        expect(seen).toMatchObject({ result: { seen: [], ...(canClose && { userns: -1 }) } });
      } finally {
        await own.dispose();
      }
    },
  );

  it.runIf(hasBubblewrap)("of the system's Python changes no setting of the kernel, whoever runs it", async () => {
    const own = createInterpreters({ backend: createBubblewrapBackend({ bwrap: bwrap ?? "" }), ...createLog() }).open(
      never,
      "somebody",
    );
    // Opened, and never written: where it could be, this machine would be another afterwards.
    const code = `
import os
writable = []
for folder, folders, files in os.walk("/proc"):
    if folder == "/proc":
        folders[:] = [one for one in folders if not one.isdigit()]
    for path in (os.path.join(folder, name) for name in files):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            writable.append(path)
        except OSError:
            pass
set_result(writable[:5])`;
    try {
      expect(await own.run(callOf(code), OUTPUTS)).toMatchObject({ kind: "computed", result: [] });
    } finally {
      await own.dispose();
    }
  });

  it.runIf(hasBubblewrap && process.getuid?.() === 0)(
    "of the system's Python that root starts is nobody's",
    async () => {
      const backend = createBubblewrapBackend({ bwrap: bwrap ?? "" });
      const { as } = await backend.launch();
      const own = createInterpreters({ backend, ...createLog() }).open(never, "somebody");
      // Forks in C, which nothing in Python is asked about.
      const code = `
import ctypes, os
libc, children = ctypes.CDLL(None), []
for _ in range(200):
    child = libc.fork()
    if child == 0:
        libc.pause()
    if child < 0:
        break
    children.append(child)
for child in children:
    os.kill(child, 9)
set_result([os.getuid(), len(children)])`;
      try {
        // Where nobody may read the interpreter's files there is nobody else to start it.
        const uid = as?.uid ?? 0;
        const { result } = (await own.run(callOf(code), OUTPUTS)) as unknown as { result: [number, number] };
        expect(result[0]).toBe(uid);
        if (uid !== 0) expect(result[1]).toBeLessThan(64);
      } finally {
        await own.dispose();
      }
    },
  );

  it.runIf(hasBubblewrap && process.getuid?.() === 0)(
    "of the system's Python in which the kernel's settings could be written is not used",
    async () => {
      const { command, args, first } = await createBubblewrapBackend({ bwrap: bwrap ?? "" }).launch();
      const unmounted = args.flatMap((arg, i) =>
        (arg === "--remount-ro" && args[i + 1] === "/proc") || (args[i - 1] === "--remount-ro" && arg === "/proc")
          ? []
          : [arg],
      );
      // As root, which it is not where it can be nobody.
      const leaky: Backend = { name: "bubblewrap", launch: async () => ({ command, args: unmounted, first }) };
      await expect(openSandbox(leaky)).rejects.toThrow("the kernel's settings");
    },
  );

  it.each(backends.map((backend, i) => [titles[i], backend] as const))(
    "in %s survives halves of characters, from tools and in results",
    async (_title, backend) => {
      const own = createInterpreters({ backend, ...createLog() }).open(never, "somebody");
      try {
        const halves = [outputOf("list_names_1", ["a\ud800b"])];
        expect(await own.run(callOf("set_result(len(list_names_1[0]))"), halves)).toMatchObject({ result: 3 });
        expect(await own.run(callOf("print('\\udc00'); set_result(list_names_1)"), halves)).toMatchObject({
          stdout: "\ufffd\n",
          result: ["a\ufffdb"],
        });
      } finally {
        await own.dispose();
      }
    },
  );

  it.runIf(hasNumpy)("of the system's Python computes with the packages of its distribution", async () => {
    const own = createInterpreters({ backend: createBubblewrapBackend({ bwrap: bwrap ?? "" }), ...createLog() }).open(
      never,
      "somebody",
    );
    const code = `
import numpy as np
prices = np.array([row["price"] for row in list_prices_1["rows"]])
set_result({"mean": np.mean(prices), "peak": prices.max(), "changes": np.diff(prices), "none": np.float64("nan")})`;
    try {
      const result = { mean: 31 / 3, peak: 12, changes: [2, -3], none: null };
      expect(await own.run(callOf(code), OUTPUTS)).toMatchObject({ kind: "computed", result });
      // Compiled code allocates within the same bound.
      expect(await own.run(callOf("import numpy as np\nnp.ones(2_000_000_000)"), OUTPUTS)).toMatchObject({
        stage: "python",
        message: expect.stringMatching(/MemoryError|Unable to allocate/),
      });
    } finally {
      await own.dispose();
    }
  });

  it.runIf(hasPandas)(
    "of the system's Python keeps what pandas calls its rows by, and writes what is not there",
    async () => {
      const own = createInterpreters({ backend: createBubblewrapBackend({ bwrap: bwrap ?? "" }), ...createLog() }).open(
        never,
        "somebody",
      );
      const resultOf = async (code: string) => {
        const outcome = await own.run(
          callOf(`import pandas as pd\nframe = pd.DataFrame(list_prices_1["rows"])\n${code}`),
          OUTPUTS,
        );
        return outcome.kind === "computed" ? outcome.result : outcome.message;
      };
      const rows = [
        { day: "2026-01-01", price: 10 },
        { day: "2026-01-02", price: 12 },
        { day: "2026-01-03", price: 9 },
      ];
      try {
        expect(await resultOf("set_result(frame)")).toEqual(rows);
        expect(await resultOf('set_result(frame.set_index("day"))')).toEqual(rows);
        // Those that are only numbered are called nothing, whichever of them are left.
        expect(await resultOf('set_result(frame[frame["price"] > 9])')).toEqual(rows.slice(0, 2));
        expect(await resultOf('set_result(frame["price"])')).toEqual([10, 12, 9]);
        expect(await resultOf('set_result(frame.groupby("day")["price"].sum())')).toEqual({
          "2026-01-01": 10,
          "2026-01-02": 12,
          "2026-01-03": 9,
        });
        const twice = 'pd.concat([frame.tail(1)] * 2).set_index("day")["price"]';
        expect(await resultOf(`set_result(${twice})`)).toEqual([rows[2], rows[2]]);
        // Names that would be one in JSON, and values that are called what their names are, are not lost and no failure either.
        expect(await resultOf('set_result(pd.Series([1, 2], index=[1, "1"]))')).toEqual([
          { index: 1, "0": 1 },
          { index: "1", "0": 2 },
        ]);
        expect(await resultOf(`set_result(${twice}.rename("day"))`)).toEqual([
          ["2026-01-03", 9],
          ["2026-01-03", 9],
        ]);
        const binned = 'frame.groupby(pd.cut(frame["price"], [0, 10, 20]), observed=False)[["price"]].count()';
        expect(await resultOf(`set_result(${binned}.rename(columns={"price": "count"}))`)).toEqual([
          { price: "(0, 10]", count: 2 },
          { price: "(10, 20]", count: 1 },
        ]);
        expect(
          await resultOf('set_result(frame.set_index(pd.PeriodIndex(frame["day"], freq="D"))[["price"]])'),
        ).toEqual(rows);
        expect(await resultOf('set_result([frame["price"].shift(1), pd.NaT, pd.NA])')).toEqual([
          [null, 10, 12],
          null,
          null,
        ]);
        // Neither does a series lose its times on its way to be merged.
        expect(
          await resultOf('set_result(safe_merge_timeseries(frame.set_index("day"), pd.DataFrame(list_volumes_1)))'),
        ).toEqual([
          { day: "2026-01-01", price: 10, volume: 5 },
          { day: "2026-01-02", price: 12, volume: 7 },
        ]);
      } finally {
        await own.dispose();
      }
    },
  );

  it.runIf(hasMatplotlib)("of the system's Python draws with the matplotlib of its distribution", async () => {
    const own = createInterpreters({ backend: createBubblewrapBackend({ bwrap: bwrap ?? "" }), ...createLog() }).open(
      never,
      "somebody",
    );
    const code = `
import matplotlib.pyplot as plt
plt.plot([row["price"] for row in list_prices_1["rows"]])
save_figure("Prices of three days", title="Prices")`;
    try {
      expect(await own.run(callOf(code, ["image"]), OUTPUTS)).toMatchObject({
        kind: "computed",
        images: [{ alt: "Prices of three days", title: "Prices", width: 640, height: 480 }],
      });
    } finally {
      await own.dispose();
    }
  });

  it.skipIf(hasNumpy && hasPandas && hasMatplotlib)(
    "of the system's Python is not tried with python3-numpy, python3-pandas and python3-matplotlib, which are not all installed here",
    () => {
      expect(hasNumpy && hasPandas && hasMatplotlib).toBe(false);
    },
  );

  it("whose code fills the memory around Python is ended", async () => {
    const own = createInterpreters({ backend: pyodide, ...createLog() }).open(never, "somebody");
    try {
      const code = "from pyodide.ffi import to_js\na = []\nwhile True: a.append(to_js([[1] * 10] * 10_000))";
      const outcome = await own.run(callOf(code), OUTPUTS);
      expect(outcome).toMatchObject({
        kind: "rejected",
        stage: expect.stringMatching(/^(crash|memory|python|timeout)$/),
      });
    } finally {
      await own.dispose();
    }
  });

  it("does not outlive a call in what the call leaves running", async () => {
    const own = createInterpreters({ backend: pyodide, ...createLog() }).open(never, "somebody");
    try {
      const leave = "import asyncio\ndef again(): loop.call_soon(again)\nloop = asyncio.get_event_loop()\nagain()";
      expect(await own.run(callOf(`${leave}\nset_result("left")`), OUTPUTS)).toMatchObject({ result: "left" });
      // The next call is not kept waiting for a minute by what nobody waits for, and the one after that has another sandbox.
      expect(await own.run(callOf("set_result(1)"), OUTPUTS)).toMatchObject({
        kind: "rejected",
        stage: "crash",
        message: expect.stringContaining("the code of an earlier call goes on"),
        mayRepair: true,
      });
      expect(await own.run(callOf("set_result(1)"), OUTPUTS)).toMatchObject({ result: 1 });
    } finally {
      await own.dispose();
    }
  });

  it("loads the packages that code imports from a folder, if they are what its lock file says", async () => {
    const folder = mkdtempSync(join(tmpdir(), "wheels-"));
    const entryOf = (name: string, wheel: Buffer, depends: string[] = [], tag = PURE) => ({
      name,
      version: "1.0",
      file_name: `${name}-1.0-${tag}.whl`,
      install_dir: "site",
      sha256: createHash("sha256").update(wheel).digest("hex"),
      package_type: "package",
      imports: [name],
      depends,
      unvendored_tests: false,
    });
    const compiled = { module: "native.cpython-314-wasm32-emscripten.so", tag: COMPILED };
    try {
      const names = ["counting", "needed", "forged", "requests"];
      const wheels = new Map(names.map((name) => [name, wheelOf(folder, name)]));
      const packages = Object.fromEntries(
        [...wheels].map(([name, wheel]) => [name, entryOf(name, wheel, name === "counting" ? ["needed"] : [])]),
      );
      writeFileSync(join(folder, "forged-1.0-py3-none-any.whl"), wheels.get("needed") ?? "");
      Object.assign(packages, {
        absent: entryOf("absent", Buffer.from("")),
        needing: entryOf("needing", wheelOf(folder, "needing", "import absent\n"), ["absent"]),
        native: entryOf("native", wheelOf(folder, "native", NATIVE, compiled), [], COMPILED),
      });
      const info = {
        abi_version: "2026_0",
        arch: "wasm32",
        platform: "emscripten",
        python: "3.14.0",
        version: "314.0.7",
      };
      writeFileSync(join(folder, "pyodide-lock.json"), JSON.stringify({ info, packages }));
      const own = createInterpreters({ backend: createPyodideBackend({ packages: folder }), ...createLog() }).open(
        never,
        "somebody",
      );
      try {
        const code = "import counting, needed\nset_result([counting.NAME, needed.NAME])";
        expect(await own.run(callOf(code), OUTPUTS)).toMatchObject({ result: ["counting", "needed"] });
        // What is compiled runs as well, though no text becomes code.
        expect(await own.run(callOf("import native\nset_result(native.ANSWER)"), OUTPUTS)).toMatchObject({
          result: 42,
        });
        expect(await own.run(callOf("import forged"), OUTPUTS)).toMatchObject({
          message: expect.stringContaining(
            "forged-1.0-py3-none-any.whl in the folder of packages is not what its lock file says",
          ),
        });
        expect(await own.run(callOf("import absent"), OUTPUTS)).toMatchObject({
          message: expect.stringContaining("absent-1.0-py3-none-any.whl is not in the folder of packages"),
        });
        // Of what a package needs as well.
        expect(await own.run(callOf("import needing"), OUTPUTS)).toMatchObject({
          message: expect.stringMatching(
            /absent cannot be imported here: absent-1.0-py3-none-any.whl is not in the folder/,
          ),
        });
        // What fetches is not there even if somebody has brought it along.
        expect(await own.run(callOf("import requests"), OUTPUTS)).toMatchObject({
          message: expect.stringMatching(/requests cannot be imported here: nothing is fetched here/),
        });
        // What was loaded before is still there.
        expect(await own.run(callOf(code), OUTPUTS)).toMatchObject({ result: ["counting", "needed"] });
      } finally {
        await own.dispose();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

it("no process is started for a call that is none", async () => {
  let launches = 0;
  const counted: Backend = {
    name: "pyodide",
    launch: () => {
      launches += 1;
      return pyodide.launch();
    },
  };
  const own = createInterpreters({ backend: counted, ...createLog() }).open(never, "somebody");
  for (const [call, outputs, stage] of [
    [callOf("1"), [], "inputs"],
    [callOf("1", [], { a: "unknown_1" }), OUTPUTS, "inputs"],
    [callOf("1", [], { "not a name": "list_prices_1" }), OUTPUTS, "inputs"],
    [callOf("1", [], { set_result: "list_prices_1" }), OUTPUTS, "inputs"],
    [callOf("1", ["video"]), OUTPUTS, "contract"],
    [{ code: "1" }, OUTPUTS, "contract"],
    [null, OUTPUTS, "contract"],
  ] as const) {
    expect(await own.run(call, outputs)).toMatchObject({ kind: "rejected", stage, mayRepair: true });
  }
  await own.dispose();
  expect(launches).toBe(0);
});

const IMAGE = Buffer.from(
  `89504e470d0a1a0a0000000d4948445200000001000000010800000000${"00000000".repeat(4)}49454e44`,
  "hex",
);

it.each([
  ["a result", { hasResult: true, result: "x".repeat(3_000_000) }, "the result has more than"],
  [
    "an image",
    { images: [{ alt: "", png: Buffer.concat([IMAGE, Buffer.alloc(3_000_000)]).toString("base64") }] },
    "an image has more than",
  ],
  ["a picture of many pixels", { images: [{ alt: "", png: sized(4_097).toString("base64") }] }, "4096 by 4096 pixels"],
])(
  "%s that is larger than it may be is refused here, whatever was written in Python's place",
  (_what, said, message) => {
    const call = callOf("1", "images" in said ? ["image"] : []) as unknown as InterpreterCall;
    const answer = { ok: true, stdout: "", hasResult: false, result: null, charts: [], ...said };
    expect(readAnswer(JSON.stringify(answer), call)).toMatchObject({
      kind: "rejected",
      stage: "artifacts",
      message: expect.stringContaining(message),
    });
  },
);

function sized(side: number): Buffer {
  const png = Buffer.from(IMAGE);
  png.writeUInt32BE(side, 16);
  return png;
}

// A compiled extension, as those of numpy are: a side module whose PyInit_native makes a module with ANSWER = 42 in it.
const NATIVE = Buffer.from(
  "AGFzbQEAAAAADwhkeWxpbmsuMAEEQgIAAAESA2ACf38Bf2ADf39/AX9gAAF/AlkEA2VudgZtZW1vcnkCAAEDZW52DV9fbWVtb3J5X2Jhc2UDfwADZW52EFB5TW9kdWxl" +
    "X0NyZWF0ZTIAAANlbnYXUHlNb2R1bGVfQWRkSW50Q29uc3RhbnQAAQMCAQIHEQENUHlJbml0X25hdGl2ZQACCiUBIwEBfyMAIwBBNGo2AhQjAEH1BxAAIgAjAEE7akEq" +
    "EAEaIAALC0gBACMAC0IBAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAbmF0aXZlAEFOU1dFUgA=",
  "base64",
);
const PURE = "py3-none-any";
const COMPILED = "cp314-cp314-pyemscripten_2026_0_wasm32";

// The smallest wheel there is: one module, stored without compression.
function wheelOf(
  folder: string,
  name: string,
  source: string | Buffer = `NAME = "${name}"\n`,
  { module = `${name}.py`, tag = PURE } = {},
): Buffer {
  const files = [
    [module, source],
    [`${name}-1.0.dist-info/METADATA`, `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`],
    [`${name}-1.0.dist-info/WHEEL`, `Wheel-Version: 1.0\nRoot-Is-Purelib: ${tag === PURE}\nTag: ${tag}\n`],
    [`${name}-1.0.dist-info/RECORD`, ""],
  ] as const;
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [path, content] of files) {
    const body = Buffer.from(content as string);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(crc32(body), 10);
    fields.writeUInt32LE(body.length, 14);
    fields.writeUInt32LE(body.length, 18);
    fields.writeUInt16LE(path.length, 22);
    parts.push(Buffer.from("PK\x03\x04", "latin1"), fields, Buffer.from(path), body);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x00", "latin1"), fields, tail, Buffer.from(path));
    at += 30 + path.length + body.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(at, 12);
  const wheel = Buffer.concat([...parts, list, Buffer.from("PK\x05\x06", "latin1"), end]);
  writeFileSync(join(folder, `${name}-1.0-${tag}.whl`), wheel);
  return wheel;
}
