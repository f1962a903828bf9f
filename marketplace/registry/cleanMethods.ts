import { formatUsd, parseUsd } from "../../settlement/domain/money.ts";
import type { JsonSchema, ListedMethod } from "../mcp/createMcpClient.ts";
import { MAX_PARTS, relax } from "../schema/relax.ts";
import {
  CONTEXT_KINDS,
  type ContextKind,
  LATENCY_CLASSES,
  type Method,
  type MethodMeta,
  type RateLimit,
  type Registration,
  SURFACES,
} from "./listing.ts";
import { isName, isReadableThroughout, readable } from "./readable.ts";
import { wrongKeywordIn } from "./wrongKeywordIn.ts";

const MAX_METHODS = 200;
const MAX_NAME_LENGTH = 200;
const MAX_DESCRIPTION_LENGTH = 5_000;
const MAX_SCHEMA_LENGTH = 64 * 1024;
const MAX_META_LENGTH = 16 * 1024;
// Of all methods together, as JSON. A search answers with fifty listings.
const MAX_LISTING_LENGTH = 512 * 1024;
// Of the schemas of all methods together: each process that sells them compiles them.
const MAX_LISTING_PARTS = 4_000;
const MAX_WARNINGS = 100;
const UNREADABLE = "characters that nobody sees, or that are no well-formed Unicode";

type Prices = Pick<Registration, "defaultExecutePriceUsd" | "executePrices">;

// Makes what a server lists into what everybody may be shown: one wrong value would spoil a whole search for strict clients.
// Whatever is repaired or dropped is told to the contributor.
export function cleanMethods(
  listed: readonly ListedMethod[],
  prices: Prices,
): { methods: Method[]; warnings: string[] } {
  const warnings: string[] = [];
  const warn = (warning: string) => {
    if (warnings.length < MAX_WARNINGS) warnings.push(warning);
  };
  const names = new Set(listed.map(({ name }) => name));
  const methods = new Map<string, Method>();
  let length = 0;
  let parts = 0;
  for (const method of listed) {
    const shown = JSON.stringify(method.name.slice(0, MAX_NAME_LENGTH));
    if (method.name.length > MAX_NAME_LENGTH || !isName(method.name)) {
      warn(`method ${shown} is left out: its name must have 1 to ${MAX_NAME_LENGTH} characters, all of them visible`);
    } else if (methods.has(method.name)) {
      warn(`method ${shown} is listed twice; the first one counts`);
    } else if (methods.size === MAX_METHODS) {
      warn(`method ${shown} is left out: a listing has at most ${MAX_METHODS} methods`);
    } else {
      const warnOfIt = (warning: string) => warn(`method ${shown}: ${warning}`);
      const cleaned = cleanMethod(method, prices, names, warnOfIt);
      if (cleaned === null) continue;
      const added = JSON.stringify(cleaned).length;
      const addedParts = partsOf(cleaned, warnOfIt);
      if (length + added > MAX_LISTING_LENGTH) {
        warn(`method ${shown} is left out: all methods together are longer than ${MAX_LISTING_LENGTH} characters`);
      } else if (parts + addedParts > MAX_LISTING_PARTS) {
        warn(
          `method ${shown} is left out: the schemas of all methods together have more than ${MAX_LISTING_PARTS} parts`,
        );
      } else {
        length += added;
        parts += addedParts;
        methods.set(method.name, cleaned);
      }
    }
  }
  for (const name of Object.keys(prices.executePrices)) {
    if (!methods.has(name))
      warn(`there is a price for a method ${JSON.stringify(name)}, which the server does not list`);
  }
  return { methods: [...methods.values()], warnings };
}

type Warn = (warning: string) => void;

// How many schemas and assertions a method is judged by.
function partsOf({ inputSchema, outputSchema = {} }: Method, warn: Warn): number {
  const [input, output] = [relax(inputSchema), relax(outputSchema)];
  if (output.isCut)
    warn(`its outputSchema has more than ${MAX_PARTS} parts; answers are judged by those that come first`);
  return input.parts + output.parts;
}

function cleanMethod(
  { name, description = "", inputSchema, outputSchema, _meta = {} }: ListedMethod,
  prices: Prices,
  names: ReadonlySet<string>,
  warn: Warn,
): Method | null {
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA_LENGTH) {
    warn(`it is left out: its inputSchema is longer than ${MAX_SCHEMA_LENGTH} characters`);
    return null;
  }
  for (const [schema, said] of Object.entries({ inputSchema, outputSchema })) {
    const keyword = wrongKeywordIn(said);
    if (isReadableThroughout(said) && keyword === null) continue;
    const wrong = keyword === null ? `has ${UNREADABLE}` : `has a ${keyword} that is not a text`;
    warn(`it is left out: its ${schema} ${wrong}`);
    return null;
  }
  const promises = outputSchema !== undefined && JSON.stringify(outputSchema).length <= MAX_SCHEMA_LENGTH;
  if (outputSchema !== undefined && !promises) {
    warn(`its outputSchema is left out: it is longer than ${MAX_SCHEMA_LENGTH} characters`);
  }
  if (description.length > MAX_DESCRIPTION_LENGTH)
    warn(`its description is cut at ${MAX_DESCRIPTION_LENGTH} characters`);
  const text = readable(description);
  if (text !== description) warn("its description has characters that nobody sees, which are left out");
  const meta = cleanMeta(_meta, inputSchema, names, warn);
  const executeUsd = executePriceOf(name, _meta.pricing, meta.pricing.executeUsd, prices);
  const { executeUsd: _, ...pricing } = meta.pricing;
  const executeEligible = executeUsd !== undefined && meta.surface !== "answer";
  const executePriceUsd = executeUsd ?? null;
  return {
    name,
    description: text.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed(),
    inputSchema,
    ...(promises && { outputSchema }),
    _meta: {
      ...meta,
      pricing: { ...pricing, ...(executeUsd !== undefined && { executeUsd }) },
      executeEligible,
      executePriceUsd,
    },
    executeEligible,
    executePriceUsd,
  };
}

// The owner's word for this method, then the server's, then the owner's default, from which an empty `pricing` opts out. A server
// whose own price cannot be read has one in mind, and sells nothing for another.
function executePriceOf(name: string, given: unknown, own: string | undefined, prices: Prices): string | undefined {
  if (Object.hasOwn(prices.executePrices, name)) return prices.executePrices[name];
  if (own !== undefined) return own;
  const isOut = isRecord(given) && (Object.keys(given).length === 0 || Object.hasOwn(given, "executeUsd"));
  return isOut ? undefined : (prices.defaultExecutePriceUsd ?? undefined);
}

function cleanMeta(
  given: Record<string, unknown>,
  inputSchema: JsonSchema,
  names: ReadonlySet<string>,
  warn: Warn,
): MethodMeta {
  const { surface, queryEligible, latencyClass, pricing, rateLimit, rateLimitHints, requirements, ...rest } = given;
  const { contextRequirements, executeEligible, executePriceUsd, ...others } = rest;
  if (executeEligible !== undefined || executePriceUsd !== undefined) {
    warn("executeEligible and executePriceUsd follow from pricing.executeUsd and surface; leave them out");
  }
  for (const [name, right] of Object.entries(PYTHON_NAMES)) {
    if (Object.hasOwn(others, name)) warn(`${name} is left out: the field's name is ${right}`);
  }
  const own = ownOf(others, warn);
  const hints = cleanHints(rateLimit ?? rateLimitHints ?? others, names, warn);
  const kinds = contextOf([contextRequirements, inputSchema["x-context-requirements"], contextIn(requirements)], warn);
  return {
    ...own,
    surface: oneOf(SURFACES, surface, "both", (wrong) =>
      warn(`surface ${wrong} is none of ${SURFACES.join(", ")}; "both" is taken`),
    ),
    queryEligible:
      typeof queryEligible === "boolean"
        ? queryEligible
        : byDefault(queryEligible, true, () => warn("queryEligible must be true or false; true is taken")),
    latencyClass: oneOf(LATENCY_CLASSES, latencyClass, "slow", (wrong) =>
      warn(`latencyClass ${wrong} is none of ${LATENCY_CLASSES.join(", ")}; "slow" is taken`),
    ),
    pricing: cleanPricing(pricing, warn),
    ...(kinds.length > 0 && { contextRequirements: kinds }),
    ...(Object.keys(hints).length > 0 && { rateLimit: hints }),
  };
}

function oneOf<T extends string>(values: readonly T[], given: unknown, fallback: T, wrong: (given: string) => void): T {
  const known = values.find((value) => value === given);
  if (known !== undefined) return known;
  return byDefault(given, fallback, () => wrong(shownOf(given)));
}

// Whoever says nothing has said nothing wrong.
function byDefault<T>(given: unknown, fallback: T, wrong: () => void): T {
  if (given !== undefined && given !== null) wrong();
  return fallback;
}

function cleanPricing(given: unknown, warn: Warn): MethodMeta["pricing"] {
  if (given === undefined || given === null) return {};
  if (!isRecord(given)) {
    warn('pricing must be an object such as { "executeUsd": "0.001" }');
    return {};
  }
  const { executeUsd, queryUsd } = given;
  const cleaned = {
    executeUsd: cleanUsd("executeUsd", executeUsd, warn),
    queryUsd: cleanUsd("queryUsd", queryUsd, warn),
  };
  return {
    ...(cleaned.executeUsd !== undefined && { executeUsd: cleaned.executeUsd }),
    ...(cleaned.queryUsd !== undefined && { queryUsd: cleaned.queryUsd }),
  };
}

function cleanUsd(field: string, given: unknown, warn: Warn): string | undefined {
  if (given === undefined || given === null) return undefined;
  try {
    if (typeof given === "string" || typeof given === "number") return formatUsd(parseUsd(String(given)));
  } catch {
    // Whatever is wrong with it, an example says what is right.
  }
  warn(`pricing.${field} ${shownOf(given)} is left out: write dollars as a text with at most 6 decimals, like "0.001"`);
  return undefined;
}

// The Python SDK reads these as the fields that they resemble, and refuses a whole search for a wrong value under one of them.
const PYTHON_NAMES: Readonly<Record<string, string>> = {
  query_eligible: "queryEligible",
  latency_class: "latencyClass",
  execute_eligible: "pricing.executeUsd",
  execute_price_usd: "pricing.executeUsd",
  context_requirements: "contextRequirements",
  rate_limit: "rateLimit",
  rate_limit_hints: "rateLimit",
};

// What is passed on as it is.
function ownOf(others: Record<string, unknown>, warn: Warn): Record<string, unknown> {
  const leftOut = (why: string) => warn(`what _meta has besides the platform's fields is left out: it is ${why}`);
  const own = Object.fromEntries(
    Object.entries(others).filter(([name]) => !HINTS.includes(name) && !Object.hasOwn(PYTHON_NAMES, name)),
  );
  if (JSON.stringify(own).length > MAX_META_LENGTH) leftOut(`longer than ${MAX_META_LENGTH} characters`);
  else if (isReadableThroughout(own)) return own;
  else leftOut(`something with ${UNREADABLE}`);
  return {};
}

const WHOLE_HINTS = { maxRequestsPerMinute: 1, cooldownMs: 0, maxConcurrency: 1 } as const;
const HINTS = [...Object.keys(WHOLE_HINTS), "supportsBulk", "recommendedBatchTools", "notes"];
const MAX_NOTES_LENGTH = 1_000;
const MAX_BATCH_TOOLS = 20;

function cleanHints(given: unknown, names: ReadonlySet<string>, warn: Warn): RateLimit {
  if (!isRecord(given)) {
    warn("rateLimit must be an object");
    return {};
  }
  const hints: RateLimit = {};
  for (const [name, least] of Object.entries(WHOLE_HINTS)) {
    const value = given[name];
    if (value === undefined || value === null) continue;
    if (Number.isSafeInteger(value) && (value as number) >= least)
      hints[name as keyof typeof WHOLE_HINTS] = value as number;
    else warn(`rateLimit.${name} ${shownOf(value)} is left out: it must be a whole number from ${least} on`);
  }
  const { supportsBulk, recommendedBatchTools, notes } = given;
  if (typeof supportsBulk === "boolean") hints.supportsBulk = supportsBulk;
  else if (supportsBulk !== undefined && supportsBulk !== null) warn("rateLimit.supportsBulk must be true or false");
  if (typeof notes === "string") hints.notes = readable(notes).slice(0, MAX_NOTES_LENGTH).toWellFormed();
  else if (notes !== undefined && notes !== null) warn("rateLimit.notes must be a text");
  if (Array.isArray(recommendedBatchTools)) {
    const known = recommendedBatchTools.filter((name) => typeof name === "string" && names.has(name));
    if (known.length < recommendedBatchTools.length)
      warn("rateLimit.recommendedBatchTools names methods that are not listed");
    hints.recommendedBatchTools = known.slice(0, MAX_BATCH_TOOLS);
  } else if (recommendedBatchTools !== undefined && recommendedBatchTools !== null) {
    warn("rateLimit.recommendedBatchTools must be a list of names");
  }
  return hints;
}

// Of `_meta`, or of one of the two places where it was written before.
function contextOf(places: readonly unknown[], warn: Warn): ContextKind[] {
  const given = places.find((place) => place !== undefined && place !== null);
  if (given === undefined) return [];
  if (given !== places[0]) warn("the context that it needs belongs into _meta.contextRequirements");
  const wanted: readonly unknown[] = Array.isArray(given) ? given : [given];
  const known = CONTEXT_KINDS.filter((kind) => wanted.includes(kind));
  if (wanted.some((kind) => !known.includes(kind as ContextKind))) {
    warn(`contextRequirements has kinds other than ${CONTEXT_KINDS.join(", ")}, which are left out`);
  }
  return known;
}

const contextIn = (requirements: unknown) => (isRecord(requirements) ? requirements.context : undefined);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const MAX_SHOWN = 60;
const shownOf = (value: unknown) => (JSON.stringify(value) ?? "undefined").slice(0, MAX_SHOWN);
