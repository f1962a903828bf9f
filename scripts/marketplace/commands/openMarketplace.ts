import { sentenceOf } from "../../../settlement/domain/sentence.ts";
import { type Ask, createClient } from "../../client/createClient.ts";
import { CommandError } from "../../command/CommandError.ts";
import { printable } from "../../command/printable.ts";
import type { Session } from "../../command/session.ts";
import { environment } from "../../config/environment.ts";

export type Marketplace = { url: URL; ask: Ask };

const LOCAL_URL = "http://127.0.0.1:8788";
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);
const FIRST_REFUSAL = 400;

// The marketplace that a command speaks to. Whatever it refuses ends the command with its sentence.
export function openMarketplace({ network }: Session, option: string | undefined): Marketplace {
  const text = option ?? environment.marketplaceUrl ?? (network === "local" ? LOCAL_URL : undefined);
  if (text === undefined) {
    throw new CommandError("--marketplace is missing: add --marketplace and its address, or set MARKETPLACE_URL");
  }
  const url = readUrl(option === undefined ? "MARKETPLACE_URL" : "--marketplace", text);
  const ask = createClient({ url: url.origin, serviceToken: "" });
  return {
    url,
    async ask(...request) {
      const reply = await ask(...request).catch(() => {
        throw new CommandError(`no marketplace answers at ${url.origin}: check --marketplace and that it is running`);
      });
      if (typeof reply.body !== "object" || reply.body === null) {
        throw new CommandError(`what answers at ${url.origin} is no marketplace: check --marketplace`);
      }
      const { error } = reply.body;
      if (reply.status < FIRST_REFUSAL) return reply;
      const reason = typeof error === "string" ? printable(error) : `status ${reply.status}`;
      throw new CommandError(`the marketplace refused: ${sentenceOf(reason)}`, { status: reply.status });
    },
  };
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
