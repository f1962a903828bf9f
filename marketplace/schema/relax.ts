import type { JsonSchema } from "../mcp/createMcpClient.ts";

// A schema is written by whoever will be judged by it, and so may be the answer: together they can be made to take hours.
// What is left of a schema here looks at each value of an answer as often as it has parts, and `meter` bounds that. References are
// replaced by what they name; patterns, which can hang, uniqueness, which compares everything with everything, what else cannot
// be decided quickly and for certain, and whatever comes after so many parts, are left out. What remains accepts whatever the
// schema accepts and perhaps more, so a verdict against an answer is right, and a doubt is the tool's.
type Relaxed = { schema: JsonSchema | boolean; exact: boolean };

export type RelaxedWhole = Relaxed & {
  // How many schemas and assertions are left, which is what compiling takes time for.
  parts: number;
  // Whether it has more than that.
  isCut: boolean;
};

// Compiling takes about a tenth of a second for as many, in which nobody else is served.
export const MAX_PARTS = 500;
// Of more alternatives it is only asked whether any fits: to compile that exactly one does takes the square of their number.
const MAX_EXCLUSIVE = 8;
const MAX_DEPTH = 64;

const KEPT = new Set([
  "const",
  "enum",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "maximum",
  "maxItems",
  "maxLength",
  "maxProperties",
  "minimum",
  "minItems",
  "minLength",
  "minProperties",
  "required",
]);
// Assertions that are left out. Everything else that is not named in this file is a remark to readers.
const LEFT_OUT = [
  "$dynamicRef",
  "$recursiveRef",
  "additionalItems",
  "contains",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "else",
  "if",
  "maxContains",
  "minContains",
  "multipleOf",
  "pattern",
  "patternProperties",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
  "uniqueItems",
];

type Walk = { root: JsonSchema; parts: number; isCut: boolean };

export function relax(root: JsonSchema): RelaxedWhole {
  const state: Walk = { root, parts: 0, isCut: false };
  const relaxed = walk(root, state, []);
  return { ...relaxed, parts: state.parts, isCut: state.isCut };
}

function walk(schema: unknown, state: Walk, refs: readonly string[], depth = 0): Relaxed {
  const asserted = isRecord(schema) ? Object.keys(schema).filter((keyword) => KEPT.has(keyword)) : [];
  if (state.parts + 1 + asserted.length > MAX_PARTS || depth > MAX_DEPTH) {
    state.isCut = true;
    return { schema: true, exact: false };
  }
  state.parts += 1 + asserted.length;
  if (typeof schema === "boolean") return { schema, exact: true };
  if (!isRecord(schema)) return { schema: true, exact: false };

  const kept: JsonSchema = {};
  let exact = !LEFT_OUT.some((keyword) => keyword in schema);
  const enter = (inner: unknown) => {
    const relaxed = walk(inner, state, refs, depth + 1);
    exact &&= relaxed.exact;
    return relaxed.schema;
  };
  for (const keyword of asserted) kept[keyword] = schema[keyword];
  if (schema.type !== undefined) kept.type = typeOf(schema);
  if (isRecord(schema.properties)) kept.properties = mapValues(schema.properties, enter);
  // Without the patterns nobody knows which properties are additional.
  if ("additionalProperties" in schema && !("patternProperties" in schema)) {
    kept.additionalProperties = enter(schema.additionalProperties);
  }
  if (Array.isArray(schema.prefixItems)) kept.prefixItems = schema.prefixItems.map(enter);
  if (Array.isArray(schema.items)) exact = false;
  else if ("items" in schema) kept.items = enter(schema.items);

  const all = Array.isArray(schema.allOf) ? schema.allOf.map(enter) : [];
  if (Array.isArray(schema.anyOf)) kept.anyOf = schema.anyOf.map(enter);
  if (Array.isArray(schema.oneOf)) {
    const branches = schema.oneOf.map((branch) => walk(branch, state, refs, depth + 1));
    const sure = branches.length <= MAX_EXCLUSIVE && branches.every((branch) => branch.exact);
    // Of relaxed branches more may match than of the real ones, so that only "none" says anything.
    if (sure) kept.oneOf = branches.map((branch) => branch.schema);
    else all.push({ anyOf: branches.map((branch) => branch.schema) });
    exact &&= sure;
  }
  if ("not" in schema) {
    const inner = walk(schema.not, state, refs, depth + 1);
    // What is more than the schema accepts is more than it forbids.
    if (inner.exact) kept.not = inner.schema;
    exact &&= inner.exact;
  }
  if (typeof schema.$ref === "string") {
    const target = refs.includes(schema.$ref) ? undefined : resolve(schema.$ref, state.root);
    if (target === undefined) exact = false;
    else {
      const relaxed = walk(target, state, [...refs, schema.$ref], depth + 1);
      exact &&= relaxed.exact;
      all.push(relaxed.schema);
    }
  }
  if (all.length > 0) kept.allOf = all;
  return { schema: kept, exact };
}

// OpenAPI's way to say "or null", which many generators write.
function typeOf({ type, nullable }: JsonSchema): unknown {
  if (nullable !== true) return type;
  return [...new Set([...(Array.isArray(type) ? type : [type]), "null"])];
}

// Names inside the same document only: nothing is fetched.
function resolve(ref: string, root: JsonSchema): unknown {
  if (ref !== "#" && !ref.startsWith("#/")) return undefined;
  let place: unknown = root;
  for (const part of ref.split("/").slice(1)) {
    const name = decodeURIComponentOrNot(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, name)) return undefined;
    place = (place as Record<string, unknown>)[name];
  }
  return place;
}

function decodeURIComponentOrNot(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const mapValues = (record: JsonSchema, map: (value: unknown) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
