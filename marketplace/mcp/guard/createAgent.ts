import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { Agent, buildConnector } from "undici";
import { McpFailure } from "../McpFailure.ts";
import { createResolve, type Resolve } from "./createResolve.ts";
import { type AddressPolicy, isAllowedAddress } from "./isAllowedAddress.ts";
import { addressIn } from "./readEndpoint.ts";

export type { Resolve };

export type AgentOptions = { policy: AddressPolicy; resolve?: Resolve };

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_HEADER_BYTES = 16 * 1_024;
// Sockets to one server. Pacing is finer; this bounds what a server that never answers can hold.
const MAX_CONNECTIONS = 64;

// For development, whose tools are at names that no name server has to know.
const resolveBySystem: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true, verbatim: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(addresses);
    });
  });

// The one way out to tools. A name is resolved once for each connection, every address is checked, and the socket goes to
// one of the checked addresses: between the check and the connection there is nothing left to rebind. A single forbidden
// address spoils the whole name, since nobody's public server is also inside of our network.
export function createAgent({ policy, ...options }: AgentOptions): Agent {
  const { resolve = policy === "public" ? createResolve() : resolveBySystem } = options;

  async function resolveAllowed(hostname: string): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
    const [first, ...others] = await resolve(hostname);
    if (first === undefined) throw new McpFailure("unreachable", `${hostname} has no address`);
    for (const { address } of [first, ...others]) {
      if (!isAllowedAddress(address, policy)) throw forbiddenAddress(hostname);
    }
    return [first, ...others];
  }

  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    allowH2: false,
    lookup: (hostname, options, callback) => {
      resolveAllowed(hostname).then(
        ([first, ...others]) => {
          if (options.all) callback(null, [first, ...others]);
          else callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, ""),
      );
    },
  });
  return new Agent({
    connections: MAX_CONNECTIONS,
    // A call is answered before the next one is written, so that a slow one never stands before a quick one.
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Whoever asks has a deadline for everything together.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) => {
      // The resolver is not asked for what is an address already.
      const address = addressIn(options.hostname);
      if (address !== undefined && !isAllowedAddress(address, policy)) {
        callback(forbiddenAddress(options.hostname), null);
        return;
      }
      connect(options, (...connected) => {
        const [error, socket] = connected;
        if (error !== null) callback(unreachable(options.hostname, error), null);
        else callback(null, socket);
      });
    },
  });
}

// Without the address: whoever registers a name would be told what our resolver knows of the network inside.
const forbiddenAddress = (hostname: string) =>
  new McpFailure("forbiddenEndpoint", `${hostname} does not lead to public addresses only`);

// Marks what failed before anything was sent.
const unreachable = (hostname: string, error: Error): McpFailure =>
  error instanceof McpFailure
    ? error
    : new McpFailure("unreachable", `${hostname} cannot be reached (${codeOf(error)})`, { cause: error });

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : error.message;
