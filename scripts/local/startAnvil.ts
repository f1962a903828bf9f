import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";

export type Anvil = {
  url: string;
  process: ChildProcess;
  // Resolves when it has ended, with what it said if it did not end well.
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  // Lets it write its state, if it was asked to keep one, and end.
  stop(): Promise<void>;
};

export type AnvilOptions = {
  // 0 takes a free one.
  port: number;
  chainId: number;
  arguments?: readonly string[];
  // Out of the reach of the terminal's Ctrl-C, for whoever ends it in an order of their own.
  detached?: boolean;
};

// With one slot in an epoch anvil takes the block two below the head for final. Nobody asks for the state of a block that is
// older than the kept ones, and anvil would write them all into the home folder and leave them there.
const ARGUMENTS = ["--slots-in-an-epoch", "1", "--gas-limit", "200000000", "--prune-history", "128"];
const MAX_OUTPUT = 100_000;

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

// The program itself and not npm's script around it, which ends before the program does and leaves it behind when it is
// ended in any but two ways.
function anvilProgram(): string {
  const wrapper = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json");
  const name = `@foundry-rs/anvil-${process.platform}-${ARCHITECTURES[process.arch]}`;
  return createRequire(wrapper).resolve(`${name}/bin/anvil${process.platform === "win32" ? ".exe" : ""}`);
}

export function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const { port, chainId, detached = false } = options;
  const anvil = spawn(
    anvilProgram(),
    ["--port", `${port}`, "--chain-id", `${chainId}`, ...ARGUMENTS, ...(options.arguments ?? [])],
    { stdio: ["ignore", "pipe", "pipe"], detached },
  );
  const ended: Anvil["ended"] = new Promise((resolve) => {
    anvil.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const stop = async () => {
    anvil.kill("SIGTERM");
    await ended;
  };
  return new Promise((resolve, reject) => {
    let output = "";
    // What it prints afterwards has to be read as well, or it would stop at a full pipe.
    const read = (chunk: Buffer) => {
      if (output.length > MAX_OUTPUT) return;
      output += chunk;
      const address = /Listening on (\S+)/.exec(output)?.[1];
      if (address) resolve({ url: `http://${address}`, process: anvil, ended, stop });
    };
    anvil.stdout.on("data", read);
    anvil.stderr.on("data", read);
    anvil.once("error", reject);
    anvil.once("exit", (code) => reject(new Error(`anvil ended with ${code}: ${output.trim()}`)));
  });
}
