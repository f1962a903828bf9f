import ipaddr from "ipaddr.js";
import type { RateLimit } from "../../settlement/daemon/http/gate/rateLimit.ts";

// Who has one address of IPv6 has 2^64 of them: a home or a server is given a network of 64 bits.
const NETWORK_BYTES = 8;
// And whoever asks a provider for more is given 65,536 of those, for nothing.
const SITE_BYTES = 6;

// The name under which an address is counted. An IPv4 address is the same one however it is written.
export function networkOf(address: string): string {
  return nameOf(address, NETWORK_BYTES) ?? address;
}

// Limits callers by their network, and those of one site of IPv6 together.
export function limitNetworks(ofNetwork: RateLimit, ofSite: RateLimit): RateLimit {
  return (address) => {
    const site = nameOf(address, SITE_BYTES);
    const waitMs = ofNetwork(networkOf(address));
    // Whoever is refused for his own haste takes nothing from his neighbours.
    return waitMs > 0 || site === null || !site.includes("::/") ? waitMs : ofSite(site);
  };
}

function nameOf(address: string, bytes: number): string | null {
  if (!ipaddr.isValid(address)) return null;
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4"
    ? parsed.toString()
    : `${parsed.toByteArray().slice(0, bytes).join(".")}::/${bytes * 8}`;
}
