import { environment } from "../config/environment.ts";
import { CommandError } from "./CommandError.ts";
import type { Session } from "./session.ts";

const LOCAL_URL = "http://127.0.0.1:8788";
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);

// Where the marketplace is that a command speaks to.
export function marketplaceUrl({ network }: Session, option: string | undefined): URL {
  const text = option ?? environment.marketplaceUrl ?? (network === "local" ? LOCAL_URL : undefined);
  if (text === undefined) {
    throw new CommandError("--marketplace is missing: add --marketplace and its address, or set MARKETPLACE_URL");
  }
  return readUrl(option === undefined ? "MARKETPLACE_URL" : "--marketplace", text);
}

function readUrl(option: string, text: string): URL {
  const example = "give it like https://market.example";
  if (!URL.canParse(text)) throw new CommandError(`${option} is "${text}", which is no address: ${example}`);
  const url = new URL(text);
  const { protocol, hostname, username, password, pathname, search, hash } = url;
  if (protocol !== "https:" && protocol !== "http:") {
    throw new CommandError(`${option} is "${text}", which is no web address: ${example}`);
  }
  if (username + password + search + hash !== "" || pathname !== "/") {
    throw new CommandError(`${option} is "${text}", which has more than a host and a port: ${example}`);
  }
  if (protocol === "http:" && !LOOPBACK.has(hostname)) {
    throw new CommandError(`${option} is ${text}, where keys could be read on their way: use https`);
  }
  return url;
}
