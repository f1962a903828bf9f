import { label } from "../../settlement/daemon/http/fields.ts";
import type { SettlementClient } from "../settlement/createSettlementClient.ts";
import type { Listing } from "./listing.ts";

const AT_A_TIME = 50;
const MAX_LENGTH = 100;

// Tells the daemon what people call the tools, for its console: the chain knows their ids alone. Saying it again after a
// restart changes nothing.
export function createNaming(settlement: Pick<SettlementClient, "nameTool">) {
  const told = new Map<string, string>();
  return async (listings: Iterable<Listing>): Promise<void> => {
    let count = 0;
    for (const { toolId, name } of listings) {
      if (told.get(toolId) === name) continue;
      if (count === AT_A_TIME) return;
      count += 1;
      const readable = label.safeParse(shortened(name));
      if (readable.success) await settlement.nameTool(toolId, readable.data);
      told.set(toolId, name);
    }
  };
}

// What is left of a letter that was cut in two goes too.
const shortened = (name: string) =>
  name
    .replaceAll(/\p{Cc}+/gu, " ")
    .slice(0, MAX_LENGTH)
    .replace(/[\uD800-\uDBFF]$/, "");
