import { createServer } from "node:net";
import { SettlementError } from "../../../domain/errors.ts";

type Listen = { host: string; port: number };

// Why the address in a setting cannot be listened on, with the way out; null for what has nothing to do with it.
export function reasonNotToListen(error: unknown, { host, port }: Listen, setting: string): string | null {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") return `port ${port} is taken; ${setting} names another one`;
  if (code === "EACCES") return `this user may not listen on port ${port}; ${setting} names another one`;
  if (code === "EADDRNOTAVAIL" || code === "EINVAL" || code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return `${host} is not an address of this machine; ${setting} names another one, such as 127.0.0.1:${port}`;
  }
  return null;
}

// The same for whoever starts, with everything else as it was.
export function listenError(error: unknown, listen: Listen, setting: string): unknown {
  const reason = reasonNotToListen(error, listen, setting);
  return reason === null ? error : new SettlementError("invalid_config", reason, { cause: error });
}

// Listens for a moment. Returns the error if that cannot be done, and null if it can.
export function tryListen(listen: Listen): Promise<Error | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen(listen, () => server.close(() => resolve(null)));
  });
}
