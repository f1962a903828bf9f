import { randomInt } from "node:crypto";
import { createServer } from "node:net";
import { StartError } from "./StartError.ts";

// Where systems take the ports of outgoing connections from lies above (32768 on Linux, 49152 elsewhere): a port from there
// that is free now may be somebody's connection a moment later, and again whenever the daemon is started again.
const [LOWEST, ABOVE] = [10_000, 32_768];
const TRIES = 50;

// Makes sure that a port can be had before anything is started, and finds a free one for 0. `promised` are those that others
// of this stack will listen on.
export async function takePort(option: string, port: number, promised: readonly number[] = []): Promise<number> {
  if (port !== 0) {
    const refused = promised.includes(port) ? "EADDRINUSE" : await tryPort(port);
    if (refused === null) return port;
    const why = refused === "EACCES" ? "may not be used" : "is taken";
    throw new StartError(`port ${port} ${why}: name another one with npm start -- ${option} <n>, or 0 for a free one`);
  }
  for (let tries = 0; tries < TRIES; tries++) {
    const candidate = randomInt(LOWEST, ABOVE);
    if (!promised.includes(candidate) && (await tryPort(candidate)) === null) return candidate;
  }
  throw new StartError(`no free port was found in ${TRIES} tries: name one with npm start -- ${option} <n>`);
}

// Why a port cannot be had, or null.
function tryPort(port: number): Promise<"EADDRINUSE" | "EACCES" | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(error.code);
      else reject(error);
    });
    server.listen({ host: "127.0.0.1", port }, () => server.close(() => resolve(null)));
  });
}
