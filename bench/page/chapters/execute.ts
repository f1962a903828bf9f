import type { measureExecute } from "../../execute/measureExecute.ts";
import { chapter } from "../chapter.ts";
import { exact, named, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureExecute>>;

export const execute = chapter<Measured>({
  name: "execute",
  command: "execute",
  measure: async () => (await import("../../execute/measureExecute.ts")).measureExecute(),
  text: (execute) => `## Buying calls

One paid method, bought by ${execute.callers} callers at once through the marketplace, each call held and captured on disk; beside it, in turns, the same MCP server called directly by the same client. Daemon, marketplace and tool are programs of their own and share the cores with the callers. Searches are those of the route, up to the text of the answer, among ${whole(execute.listings)} listings.

${named([
  ["callsPerSecond", whole(execute.callsPerSecond), "calls bought per second"],
  ["directCallsPerSecond", whole(execute.directCallsPerSecond), "calls per second without a marketplace"],
  ["ratio", exact(execute.ratio), "the one divided by the other"],
  [
    "addedP50Ms",
    exact(execute.addedP50Ms),
    "what the marketplace adds to the median of the time to an answer, in milliseconds",
  ],
  ["addedP99Ms", exact(execute.addedP99Ms), "the same for the 99th percentile"],
  ["searchP50Ms", exact(execute.searchP50Ms), "median of a search, in milliseconds"],
  ["searchP99Ms", exact(execute.searchP99Ms), "its 99th percentile"],
])}`,
});
