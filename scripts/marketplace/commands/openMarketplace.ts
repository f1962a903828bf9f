import { sentenceOf } from "../../../settlement/domain/text/sentence.ts";
import { type Ask, createClient } from "../../client/createClient.ts";
import { CommandError } from "../../command/CommandError.ts";
import { marketplaceUrl } from "../../command/marketplaceUrl.ts";
import { printable } from "../../command/printable.ts";
import type { Session } from "../../command/session.ts";

export type Marketplace = { url: URL; ask: Ask };

const FIRST_REFUSAL = 400;

// The marketplace that a command speaks to. Whatever it refuses ends the command with its sentence.
export function openMarketplace(session: Session, option: string | undefined): Marketplace {
  const url = marketplaceUrl(session, option);
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
