import ipaddr from "ipaddr.js";

// `public` is for production. `development` adds this machine itself and nothing else: the cloud's metadata and the
// neighbours in a private network are out of reach there too.
export type AddressPolicy = "public" | "development";

// All of IPv6 that is routed in public. ipaddr.js names what is special and calls the rest unicast, also what is assigned to
// nobody and may stand for anything inside of a network.
const GLOBAL_UNICAST = ipaddr.IPv6.parse("2000::");
const GLOBAL_UNICAST_BITS = 3;

// Where a cloud answers its own machines, at an address that looks like anybody's: Azure's agent and metadata.
const INSIDE_A_CLOUD: ReadonlySet<string> = new Set(["168.63.129.16"]);

export function isAllowedAddress(address: string, policy: AddressPolicy): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (policy === "development" && range === "loopback") return true;
  if (range !== "unicast" || INSIDE_A_CLOUD.has(parsed.toString())) return false;
  return parsed.kind() === "ipv4" || parsed.match(GLOBAL_UNICAST, GLOBAL_UNICAST_BITS);
}
