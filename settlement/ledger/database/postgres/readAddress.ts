import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import type pg from "pg";
import { SettlementError } from "../../../domain/errors.ts";

// All that an address may say beside who and where. Anything else could take back what the ledger promises: `options` switches
// off that a commit waits for the disk, `statement_timeout` how long a lock is waited for, and some are taken by one client
// and not by another.
const PARAMETERS: readonly string[] = ["sslmode", "sslrootcert", "sslcert", "sslkey", "host", "application_name"];
// Two that mean the same to every client. What the others mean has changed, and most of them do not ask who the server is.
const SSL_MODES: readonly (string | null)[] = ["verify-full", "disable", null];
const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;

export type Address = Pick<
  pg.ClientConfig,
  "host" | "port" | "user" | "password" | "database" | "ssl" | "application_name"
>;

// What a postgres:// address says. Its text is in no message: it has a password in it.
export function readAddress(text: string): Address {
  const { url, hasHost } = parse(text);
  const given = url.searchParams;
  for (const name of given.keys()) {
    if (!PARAMETERS.includes(name)) {
      refuse(`has ?${name}=, which the ledger does not take: leave it out; it takes ${PARAMETERS.join(", ")}`);
    }
  }
  const socket = given.get("host");
  if (socket !== null && !socket.startsWith("/")) {
    refuse(
      "has ?host=, which is for the folder of a socket and begins with a slash; a server's name stands before the path",
    );
  }
  const host = socket ?? (hasHost ? decodeURIComponent(url.hostname.replace(/^\[(.+)\]$/, "$1")) : "localhost");
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database === "") refuse("names no database: it is the part after the slash");
  return {
    host,
    ...(url.port !== "" && { port: Number(url.port) }),
    ...(url.username !== "" && { user: decodeURIComponent(url.username) }),
    ...(url.password !== "" && { password: decodeURIComponent(url.password) }),
    database,
    ssl: readSsl(given, host),
    application_name: given.get("application_name") ?? "settlement",
  };
}

function readSsl(given: URLSearchParams, host: string): pg.ClientConfig["ssl"] {
  const mode = given.get("sslmode");
  const [ca, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) => given.get(name));
  if (!SSL_MODES.includes(mode)) {
    refuse(`says sslmode=${mode}; use verify-full, with sslrootcert for a CA of your own, or disable`);
  }
  if (mode === "disable") return false;
  if (mode === null && ca === null && cert === null && key === null) {
    if (host.startsWith("/") || LOOPBACK.test(host)) return false;
    refuse("is of another machine and says nothing of TLS: add sslmode=verify-full, or sslmode=disable if you mean it");
  }
  return {
    ...(ca && { ca: readFile("sslrootcert", ca) }),
    ...(cert && { cert: readFile("sslcert", cert) }),
    ...(key && { key: readFile("sslkey", key) }),
    ...(isIP(host) === 0 && { servername: host }),
  };
}

// An address without a host, as for a socket, is no URL if it has a user.
function parse(text: string): { url: URL; hasHost: boolean } {
  try {
    const url = new URL(text);
    return { url, hasHost: url.hostname !== "" };
  } catch {
    try {
      return { url: new URL(text.replace("@/", "@localhost/")), hasHost: false };
    } catch {
      return refuse("cannot be read; it must be postgres://user:password@host:port/database");
    }
  }
}

function readFile(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return refuse(`names a file in ${name} that cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function refuse(reason: string): never {
  throw new SettlementError("invalid_config", `the PostgreSQL address ${reason}`);
}
