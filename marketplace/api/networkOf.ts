import ipaddr from "ipaddr.js";

// Who has one address of IPv6 has 2^64 of them: a home or a server is given a network of 64 bits.
const NETWORK_BYTES = 8;

// The name under which an address is counted. An IPv4 address is the same one however it is written.
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv4"
    ? parsed.toString()
    : `${parsed.toByteArray().slice(0, NETWORK_BYTES).join(".")}::/64`;
}
