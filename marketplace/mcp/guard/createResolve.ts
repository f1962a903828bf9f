import type { LookupAddress } from "node:dns";
import { Resolver } from "node:dns/promises";

// Every address of a name.
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export type ResolveOptions = { servers?: readonly string[]; timeoutMs?: number };

// For one question to one name server; the second and last time it waits twice as long.
const TIMEOUT_MS = 2_000;
const TRIES = 2;

// Asks the system's name servers by itself. The system's own resolver has four threads for all that the process asks: with a few names
// whose servers never answer, whoever offers tools would keep every other name, and the chain, waiting for as long as he likes.
export function createResolve({ servers, timeoutMs = TIMEOUT_MS }: ResolveOptions = {}): Resolve {
  return async (hostname) => {
    // A new one knows the servers as they are now.
    const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [...addressesOf(four, 4), ...addressesOf(six, 6)];
    if (addresses.length === 0 && four.status === "rejected") throw four.reason;
    return addresses;
  };
}

const addressesOf = (answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family })) : [];
