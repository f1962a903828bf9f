import { TOOL_ID_HEADER } from "../../toolkit/middleware/toolIdHeader.ts";

// A server may be sold at several marketplaces, as another tool at each.
const MAX_TOOL_IDS = 32;

// As which tools a server says that it is sold, in the header of its answers. What is no id names nobody's tool. Null: it does not say.
export function toolIdsInHeader(header: string | string[] | undefined): readonly string[] | null {
  if (header === undefined) return null;
  const ids = [header].flat().flatMap((line) => line.split(","));
  return ids.slice(0, MAX_TOOL_IDS).map((id) => id.trim().toLowerCase());
}

const LINE = new RegExp(`^${TOOL_ID_HEADER}:(.*)$`, "im");

// The same in a line of what it tells its clients when they shake hands, for whoever writes a server and not its headers.
export const toolIdsInInstructions = (instructions: string | undefined): readonly string[] | null =>
  toolIdsInHeader(LINE.exec(instructions ?? "")?.[1]);
