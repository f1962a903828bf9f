import { hashJson } from "../schema/hashJson.ts";
import type { Registration } from "./listing.ts";

// What the owner's wallet shows: the tool, and the hash of everything that is said of it.
export function statementOf(registration: Registration): string {
  return `Register the tool ${registration.toolId} with the content ${hashJson(registration)}.`;
}
