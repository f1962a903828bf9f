import type { measureHttp } from "../../http/measureHttp.ts";
import { chapter } from "../chapter.ts";
import { exact, named, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureHttp>>;

export const http = chapter<Measured>({
  name: "http",
  command: "http",
  measure: async () => (await import("../../http/measureHttp.ts")).measureHttp(),
  text: (http) => `## HTTP

Accruals over HTTP with ${http.connections} connections: each request reports a turn of its own and is answered when that is on disk (SQLite, WAL, \`synchronous=FULL\`). Beside it, in turns, a route of the same server that asks for the same token, reads and checks the same body and does nothing. The server is a process of its own with its log on; the settlement loop does not run. The client runs on the same machine, so both rates depend on its cores; the ratio depends on them less. Means of two runs.

${named([
  ["accrualsPerSecond", whole(http.accrualsPerSecond), "turns recorded per second"],
  ["emptyRoutePerSecond", whole(http.emptyRoutePerSecond), "requests per second of the route that does nothing"],
  ["ratio", exact(http.ratio), "the one divided by the other"],
  ["p99Ms", exact(http.p99Ms), "99th percentile of the time to an answer, in milliseconds"],
])}`,
});
