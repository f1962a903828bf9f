import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { z } from "zod";
import type { Backend } from "./launch.ts";

// A process in which code of nobody's runs. Whatever it writes is data of a stranger's.
export type Sandbox = {
  // Whether the process is in a network of its own, in which there is nobody.
  isOffline: boolean;
  // Sends one line and resolves to the line that comes back. Throws SandboxEnded; there is then no more to be had of it.
  ask(line: string, timeoutMs: number): Promise<string>;
  // Ends the process, whatever it does, and resolves once it is gone.
  close(): Promise<void>;
};

export type EndStage = "busy" | "start" | "refused" | "timeout" | "memory" | "output" | "crash" | "closed";

export class SandboxEnded extends Error {
  override readonly name = "SandboxEnded";
  readonly stage: EndStage;

  constructor(stage: EndStage, message: string) {
    super(message);
    this.stage = stage;
  }
}

export type SandboxLimits = {
  // Compiling Python takes two seconds of a processor, which on a busy machine is a while.
  startMs: number;
  aliveMs: number;
  // The whole process, as the system counts it.
  memoryBytes: number;
  // Of one answer, images included.
  answerBytes: number;
};

export const SANDBOX_LIMITS: SandboxLimits = {
  startMs: 120_000,
  aliveMs: 900_000,
  memoryBytes: 1024 * 1024 * 1024,
  answerBytes: 16 * 1024 * 1024,
};

const UNASKED = "it said something that it was not asked for";
const LOOK_MS = 250;
const PAGE_BYTES = 4_096;
const MAX_SAID_LENGTH = 1_000;
const MAX_GENERATIONS = 4;
const MAX_CHILDREN = 64;

const greeting = z.union([
  z.object({ ready: z.literal(true), isOffline: z.boolean() }),
  z.object({ refused: z.array(z.string()) }),
]);

// Starts one, which tries to get out before anybody's code does, and is not used if it can.
export async function openSandbox(
  backend: Backend,
  limits: SandboxLimits = SANDBOX_LIMITS,
  signal?: AbortSignal,
): Promise<Sandbox> {
  const { command, args, first, as } = await backend.launch();
  const canary = await startCanary();
  let child: ChildProcessWithoutNullStreams | undefined;
  try {
    // Whoever asked may have gone while it was found out how to start one.
    if (signal?.aborted) throw new SandboxEnded("closed", "the turn is over");
    child = spawn(command, args, { env: {}, cwd: "/", stdio: "pipe", ...as });
    const sandbox = attach(child, limits);
    signal?.addEventListener("abort", () => void sandbox.close());
    let line: string;
    try {
      line = await sandbox.ask(JSON.stringify({ ...first, port: canary.port }), limits.startMs);
    } catch (error) {
      if (error instanceof SandboxEnded && error.stage === "crash") {
        throw new SandboxEnded("start", `the interpreter did not start: ${error.message}`);
      }
      throw error;
    }
    const said = greeting.safeParse(readLine(line));
    if (!said.success) throw new SandboxEnded("start", "the interpreter did not say that it is ready");
    if ("refused" in said.data) throw refusal(said.data.refused);
    const { isOffline } = said.data;
    // Where there is a network the process itself has tried it once, and found it; nobody else has.
    if (canary.touches() > (isOffline ? 0 : 1)) throw refusal(["a connection"]);
    return { ...sandbox, isOffline };
  } catch (error) {
    if (child !== undefined) await endOf(child);
    throw error;
  } finally {
    await canary.close();
  }
}

const refusal = (holes: readonly string[]) =>
  new SandboxEnded("refused", `code in the interpreter could reach ${holes.join(", ")}; it is not used here`);

function readLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function attach(child: ChildProcessWithoutNullStreams, limits: SandboxLimits): Omit<Sandbox, "isOffline"> {
  let ended: SandboxEnded | undefined;
  let waiting: PromiseWithResolvers<string> | undefined;
  let chunks: Buffer[] = [];
  let bytes = 0;
  let said = "";

  const end = (stage: EndStage, message: string) => {
    ended ??= new SandboxEnded(stage, message);
    child.kill("SIGKILL");
    waiting?.reject(ended);
    waiting = undefined;
  };
  child.once("error", (error) => end("start", `the interpreter did not start: ${error.message}`));
  // It may be gone while something is written to it, which its end says better.
  child.stdin.on("error", () => undefined);
  child.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-MAX_SAID_LENGTH);
  });
  child.stdout.on("data", (chunk: Buffer) => {
    // One line for each that was sent. Whatever else comes would be taken for the answer to what is asked next.
    if (waiting === undefined) return end("output", UNASKED);
    bytes += chunk.length;
    if (bytes > limits.answerBytes) return end("output", `it answered more than ${limits.answerBytes} bytes`);
    chunks.push(chunk);
    if (!chunk.includes(0x0a)) return;
    const text = Buffer.concat(chunks).toString("utf8");
    const [line = "", ...more] = text.split("\n");
    if (more.join("") !== "") return end("output", UNASKED);
    chunks = [];
    bytes = 0;
    waiting.resolve(line);
    waiting = undefined;
  });
  child.once("close", (code, signal) => {
    end("crash", `it ended with ${signal ?? code}${said === "" ? "" : `: ${said.trim()}`}`);
    clearTimeout(old);
    clearInterval(looking);
  });
  const old = setTimeout(() => end("timeout", `it was there for ${limits.aliveMs / 60_000} minutes`), limits.aliveMs);
  old.unref();
  const looking = setInterval(async () => {
    if ((await memoryOf(child.pid)) > limits.memoryBytes) {
      end("memory", `it took more than ${limits.memoryBytes / 1024 / 1024} MiB of memory`);
    }
  }, LOOK_MS);
  looking.unref();

  return {
    async ask(line, timeoutMs) {
      if (ended !== undefined) throw ended;
      if (waiting !== undefined) throw new Error("a sandbox is asked one thing at a time");
      waiting = Promise.withResolvers<string>();
      const { promise } = waiting;
      const late = setTimeout(() => end("timeout", `it took more than ${timeoutMs / 1_000} seconds`), timeoutMs);
      child.stdin.write(`${line}\n`);
      try {
        return await promise;
      } finally {
        clearTimeout(late);
      }
    },
    async close() {
      end("closed", "it was closed");
      clearTimeout(old);
      clearInterval(looking);
      await endOf(child);
    },
  };
}

async function endOf(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once("exit", () => resolve());
  child.kill("SIGKILL");
  await promise;
}

// What a process takes, and those that it has started: a sandbox may be one that has started another. Where the system says so,
// which is on Linux.
async function memoryOf(pid: number | string | undefined, depth = 0): Promise<number> {
  const said = (name: string) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
  const [, pages = "0"] = (await said("statm")).split(" ");
  const children = depth < MAX_GENERATIONS ? (await said(`task/${pid}/children`)).split(" ", MAX_CHILDREN) : [];
  const theirs = await Promise.all(children.filter((one) => one !== "").map((one) => memoryOf(one, depth + 1)));
  return theirs.reduce((sum, bytes) => sum + bytes, Number(pages) * PAGE_BYTES);
}

// Somebody to reach, here and not out there, for those who try.
async function startCanary() {
  let touches = 0;
  const server = createServer((socket) => {
    touches += 1;
    socket.destroy();
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => resolve());
  await promise;
  return {
    port: (server.address() as AddressInfo).port,
    touches: () => touches,
    close: () => new Promise<void>((done) => server.close(() => done())),
  };
}
