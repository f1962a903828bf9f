import { isIP } from "node:net";
import { McpFailure } from "../McpFailure.ts";
import { type AddressPolicy, isAllowedAddress } from "./isAllowedAddress.ts";

const MAX_ENDPOINT_LENGTH = 2_048;
// A name may end with the dot of the root.
const LOCAL_NAMES = /^(?:.+\.)?localhost\.?$/;

const forbidden = (message: string) => new McpFailure("forbiddenEndpoint", message);

// The address in a URL, without the brackets around IPv6; undefined for a name.
export const addressIn = (hostname: string): string | undefined => {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return isIP(bare) ? bare : undefined;
};

// Checks what can be seen of an endpoint without asking anybody. What its name resolves to is checked where the connection
// is made, because only that address is the one that is talked to.
export function readEndpoint(endpoint: string, policy: AddressPolicy): URL {
  if (endpoint.length > MAX_ENDPOINT_LENGTH)
    throw forbidden(`the endpoint is longer than ${MAX_ENDPOINT_LENGTH} characters`);
  const url = URL.parse(endpoint);
  if (url === null) throw forbidden("the endpoint is no URL; write one such as https://tools.example.com/mcp");
  const address = addressIn(url.hostname);
  const isLocal = LOCAL_NAMES.test(url.hostname) || (address !== undefined && isLoopback(address));
  if (url.protocol !== "https:" && !(policy === "development" && url.protocol === "http:" && isLocal)) {
    throw forbidden("the endpoint must begin with https://; http:// is for this machine, in development");
  }
  if (url.username !== "" || url.password !== "") throw forbidden("the endpoint must not contain a user or a password");
  if (url.hash !== "") throw forbidden("the endpoint must not contain a fragment (#)");
  if (address !== undefined && !isAllowedAddress(address, policy)) {
    throw forbidden(`the endpoint is at ${address}, which is not a public address`);
  }
  if (policy === "public" && LOCAL_NAMES.test(url.hostname)) throw forbidden("the endpoint is on this machine");
  return url;
}

const isLoopback = (address: string) =>
  isAllowedAddress(address, "development") && !isAllowedAddress(address, "public");
