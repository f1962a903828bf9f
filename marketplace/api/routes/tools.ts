import { z } from "zod";
import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import { readPreferences } from "../../accounts/preferences.ts";
import { compactView } from "../../discovery/compactView.ts";
import type { Found } from "../../discovery/createCatalogue.ts";
import { toolSchema, toolView } from "../../discovery/toolView.ts";
import { wantedMethods } from "../../discovery/wantedMethods.ts";
import { LATENCY_CLASSES, type Method, SURFACES } from "../../registry/listing.ts";
import { toolId } from "../fields.ts";
import { type Caller, route, type Services } from "../route.ts";

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 50;
// Of all methods in an answer, as JSON.
const MAX_METHODS_LENGTH = 2 * 1024 * 1024;

// What cannot be understood is taken for not said: searching is for trying out.
const yesOrNo = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .optional()
  .catch(undefined);

const query = z.object({
  q: z.string().optional().catch(undefined),
  // An empty one is as none, and not zero.
  limit: z
    .string()
    .trim()
    .min(1)
    .pipe(z.coerce.number())
    .transform((limit) => Math.min(MAX_LIMIT, Math.max(1, Math.trunc(limit))))
    .catch(DEFAULT_LIMIT),
  mode: z.enum(["query", "execute"]).optional().catch(undefined),
  surface: z.enum(SURFACES).optional().catch(undefined),
  queryEligible: yesOrNo,
  requireExecutePricing: yesOrNo,
  excludeLatency: z
    .string()
    .transform((text) => LATENCY_CLASSES.filter((name) => text.split(",").includes(name)))
    .optional()
    .catch(undefined),
  excludeSlow: yesOrNo,
  favorites_only: yesOrNo,
  // Ours: for whoever hands the answer to a model.
  view: z.enum(["whole", "compact"]).catch("whole").default("whole"),
});

export const toolRoutes = [
  route({
    method: "GET",
    path: "/api/v1/tools/search",
    access: "anybody",
    summary: "Search tools, or see what is featured; only methods that pass the filters are shown",
    query,
    answer: z.object({
      tools: z.array(toolSchema),
      mode: z.enum(["query", "execute"]),
      query: z.string(),
      count: z.int(),
    }),
    async handle({ query, caller, services }) {
      const { q = "", limit, mode = "query", favorites_only, view, ...filters } = query;
      const among = await favoritesOf(caller, favorites_only, services);
      const wants = wantedMethods({ ...filters, mode: query.mode });
      const found = services.catalogue.search({
        ...(q.trim() !== "" && { text: q }),
        limit,
        ...(wants && { wants }),
        ...(among && { among }),
      });
      const tools = withinRoom(found)
        .map(({ listing, methods }) => toolView(listing, methods))
        .map((tool) => (view === "compact" ? compactView(tool) : tool));
      return { body: { tools, mode, query: q, count: tools.length } };
    },
  }),
  route({
    method: "GET",
    path: "/api/v1/tools/:id",
    access: "anybody",
    summary: "Show a tool with all of its methods",
    params: z.object({ id: z.string() }),
    answer: toolSchema,
    errors: ["not_found"],
    async handle({ params: { id }, services: { catalogue } }) {
      const known = toolId.safeParse(id);
      const listing = known.success ? await catalogue.find(known.data) : null;
      if (listing === null) throw new ApiError("not_found", "there is no such tool");
      return { body: toolView(listing) };
    },
  }),
];

// Everybody may search, and fifty listings can be 25 MB. Each tool is shown whole or not at all, the best in any case. The others
// have room by their length, the shortest first, so that nobody pushes a better tool out by being long.
export function withinRoom(found: readonly Found[]): readonly Found[] {
  const [best, ...others] = found.map((each) => ({
    each,
    length: each.methods.reduce((sum, method) => sum + lengthOf(method), 0),
  }));
  if (best === undefined) return [];
  let left = MAX_METHODS_LENGTH - best.length;
  const shown = new Set([best.each]);
  for (const { each, length } of others.sort((one, other) => one.length - other.length)) {
    left -= length;
    if (left < 0) break;
    shown.add(each);
  }
  return found.filter((each) => shown.has(each));
}

const lengths = new WeakMap<Method, number>();

function lengthOf(method: Method): number {
  const length = lengths.get(method) ?? JSON.stringify(method).length;
  lengths.set(method, length);
  return length;
}

async function favoritesOf(caller: Caller, asked: boolean | undefined, { store }: Services) {
  if (asked === false || caller.kind === "anybody") return undefined;
  const { favoritesOnly, favorites } = await readPreferences(store.read, caller.account);
  return (asked ?? favoritesOnly) ? new Set(favorites) : undefined;
}
