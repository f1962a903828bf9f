import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runInProcess } from "../runInProcess.ts";

export type ResidentHardhat = {
  // Writes a program that stands for Hardhat's own.
  install(path: string): void;
  stop(): void;
};

// A Hardhat that is loaded once and runs one command after the other, for whoever runs many from a shell: a program of its
// own takes ten times as long to start as most commands take to run. The shell sees what it always sees: arguments, environment
// and working folder go in, and both outputs and the exit code come out. Nobody is asked anything.
export async function startResidentHardhat(): Promise<ResidentHardhat> {
  const folder = mkdtempSync(join(tmpdir(), "resident-hardhat-"));
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    createInterface(socket).once("line", async (request) => {
      await answer(request);
      socket.end("done\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    install: (path) => writeFileSync(path, clientOf(port, folder), { mode: 0o755 }),
    stop() {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// A request is a folder: what goes in and what comes out are files in it.
async function answer(request: string): Promise<void> {
  const partsOf = (name: string) => readFileSync(join(request, name), "utf8").split("\0").slice(0, -1);
  const [cwd = "", ...command] = partsOf("command");
  const env = Object.fromEntries(partsOf("environment").map((line) => splitAt(line, line.indexOf("="))));
  const home = process.cwd();
  process.chdir(cwd);
  const run = await runInProcess(command, env, home)
    // A defect of the command, which Hardhat would show with its stack.
    .catch((error: Error) => ({ code: 1, stdout: "", stderr: `${error.stack}\n` }))
    .finally(() => process.chdir(home));
  writeFileSync(join(request, "stdout"), run.stdout);
  writeFileSync(join(request, "stderr"), run.stderr);
  writeFileSync(join(request, "code"), `${run.code}`);
}

const splitAt = (text: string, at: number) => [text.slice(0, at), text.slice(at + 1)] as const;

const clientOf = (port: number, folder: string) => `#!/bin/bash
set -euo pipefail
request=$(mktemp -d '${folder}/XXXXXXXX')
printf '%s\\0' "$PWD" "$@" > "$request/command"
env -0 > "$request/environment"
exec 3<> /dev/tcp/127.0.0.1/${port}
printf '%s\\n' "$request" >&3
read -r <&3
cat "$request/stdout"
cat "$request/stderr" >&2
exit "$(cat "$request/code")"
`;
