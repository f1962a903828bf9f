// What Pyodide finds around it: a bare shell of JavaScript, as engines have for their own tests. There is no Node in this realm,
// and so no socket, no file and no process that Python could reach through it. Everything here is made of the realm's own
// objects; not one function or error of Node's comes in, because whoever has one has its constructor, and with it Node.

(() => {
  const files = new Map();
  const printed = [];
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
  const refuse = (what) => () => {
    throw new Error(`${what} is not here`);
  };
  const quiet = (...parts) => {
    if (printed.length < 100) printed.push(parts.map(String).join(" ").slice(0, 1_000));
  };

  // Pyodide takes an engine that has these for a shell.
  define("read", refuse("read"));
  define("load", refuse("load"));
  define("readbuffer", (path) => {
    const file = files.get(path);
    if (file === undefined) throw new Error(`there is no file ${path}`);
    return file;
  });
  // What stands for import() in Pyodide's own code.
  define("importNothing", async (name) => {
    throw new Error(`the module ${name} is not here`);
  });
  define("console", { log: quiet, info: quiet, debug: quiet, warn: quiet, error: quiet, assert: () => undefined });
  define("performance", { now: () => Date.now() });
  // Nothing waits here: a call is computed in one go, and the process around it is ended if it takes too long.
  define("setTimeout", (work, _delayMs, ...args) => {
    Promise.resolve().then(() => work(...args));
    return 0;
  });
  define("clearTimeout", () => undefined);

  // Where a shell's Python gets its random numbers from: for hashes and samples, and good for no secret.
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  define("os", {
    system(_command, [, text]) {
      const count = Number(/head -c([0-9]+)/.exec(text)?.[1] ?? 0);
      let written = "";
      for (let i = 0; i < count; i += 3) {
        for (let digit = 0; digit < 4; digit += 1) {
          const isBeyond = i + digit > count;
          written += isBeyond ? "=" : DIGITS[Math.floor(Math.random() * 64)];
        }
      }
      return written;
    },
  });

  const REPLACEMENT = "\ufffd";
  function decodeUtf8(bytes, isFatal) {
    const parts = [];
    let text = "";
    const bad = () => {
      if (isFatal) throw new TypeError("the bytes are no UTF-8");
      text += REPLACEMENT;
    };
    for (let i = 0; i < bytes.length; ) {
      const first = bytes[i++];
      if (first < 0x80) text += String.fromCharCode(first);
      else {
        const more =
          first >= 0xf0 && first < 0xf5 ? 3 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xc2 && first < 0xe0 ? 1 : 0;
        let point = more === 3 ? first & 7 : more === 2 ? first & 15 : first & 31;
        let taken = 0;
        while (taken < more && i < bytes.length && (bytes[i] & 0xc0) === 0x80) {
          point = (point << 6) | (bytes[i++] & 63);
          taken += 1;
        }
        const isLess = (more === 2 && point < 0x800) || (more === 3 && (point < 0x10000 || point > 0x10ffff));
        const isHalf = point >= 0xd800 && point <= 0xdfff;
        if (more === 0 || taken < more || isLess || isHalf) bad();
        else text += String.fromCodePoint(point);
      }
      if (text.length > 4_096) {
        parts.push(text);
        text = "";
      }
    }
    parts.push(text);
    return parts.join("");
  }

  const bytesOf = (source) => {
    if (source === undefined) return new Uint8Array();
    return ArrayBuffer.isView(source)
      ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
      : new Uint8Array(source);
  };

  define(
    "TextDecoder",
    class TextDecoder {
      constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
        this.encoding = String(label).toLowerCase();
        this.fatal = fatal;
        this.ignoreBOM = ignoreBOM;
        if (
          !["utf-8", "utf8", "utf-16le", "utf-16", "latin1", "ascii", "us-ascii", "iso-8859-1"].includes(this.encoding)
        ) {
          throw new RangeError(`the encoding ${this.encoding} is not known here`);
        }
      }
      decode(source) {
        const bytes = bytesOf(source);
        if (this.encoding.startsWith("utf-16")) {
          let text = "";
          for (let i = 0; i + 1 < bytes.length; i += 2) text += String.fromCharCode(bytes[i] | (bytes[i + 1] << 8));
          return text;
        }
        if (!this.encoding.startsWith("utf")) {
          let text = "";
          for (const byte of bytes) text += String.fromCharCode(byte);
          return text;
        }
        const hasMark = !this.ignoreBOM && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
        return decodeUtf8(hasMark ? bytes.subarray(3) : bytes, this.fatal);
      }
    },
  );

  define(
    "TextEncoder",
    class TextEncoder {
      constructor() {
        this.encoding = "utf-8";
      }
      encode(text = "") {
        const bytes = [];
        for (const character of String(text)) {
          let point = character.codePointAt(0);
          if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
          if (point < 0x80) bytes.push(point);
          else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 63));
          else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
          else {
            bytes.push(
              0xf0 | (point >> 18),
              0x80 | ((point >> 12) & 63),
              0x80 | ((point >> 6) & 63),
              0x80 | (point & 63),
            );
          }
        }
        return new Uint8Array(bytes);
      }
      encodeInto(text, target) {
        const bytes = this.encode(text).subarray(0, target.length);
        target.set(bytes);
        return { read: String(text).length, written: bytes.length };
      }
    },
  );

  // What the worker drives it with. Only texts and numbers go in and out.
  let python;
  let run;
  let holes;
  let importsOf;
  return {
    // A place for a file of so many bytes, which the worker fills.
    place(path, bytes) {
      const file = new Uint8Array(bytes);
      files.set(path, file.buffer);
      return file;
    },
    async start(loadPyodide, createPyodideModule, lockFile, prelude) {
      python = await loadPyodide({
        indexURL: "/pyodide/",
        createPyodideModule,
        lockFileContents: JSON.parse(lockFile),
        // What Python sees as `js`.
        jsglobals: Object.freeze(Object.create(null)),
        stdin: () => null,
        stdout: quiet,
        stderr: quiet,
        env: { HOME: "/home/work", MPLBACKEND: "agg" },
      });
      files.clear();
      const namespace = python.toPy({ __name__: "prelude" });
      python.runPython(prelude, { globals: namespace });
      python.runPython("import ast, os\nos.makedirs('/home/work', exist_ok=True)\nos.chdir('/home/work')");
      run = namespace.get("_run");
      holes = namespace.get("_holes");
      importsOf = python.runPython(
        `
import ast, json
def imports(text):
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return "[]"
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(one.name.split(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return json.dumps(sorted(names))
imports`,
        { globals: python.toPy({}) },
      );
    },
    holes: (port) => String(holes(port)),
    importsOf: (code) => String(importsOf(code)),
    install(path) {
      python.unpackArchive(files.get(path), "wheel");
      files.delete(path);
    },
    run: (request) => String(run(request)),
    printed: () => printed.join("\n"),
  };
})();
