// Keywords below which stand schemas: one, a list of them, or one under each of its names.
const BELOW = [
  ...["additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"],
  ...["unevaluatedItems", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "prefixItems"],
] as const;
const BELOW_NAMES = ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"] as const;

// The first keyword of a schema that everybody takes for a text and is none, or null. Whoever then writes it as one would
// run into whatever its contributor put there instead. The schema's depth was bounded when it was read.
export function wrongKeywordIn(schema: unknown): "type" | "pattern" | null {
  if (Array.isArray(schema)) return firstIn(schema);
  if (!isRecord(schema)) return null;
  const { type, pattern } = schema;
  const types = Array.isArray(type) ? type : [type ?? ""];
  if (!types.every((name) => typeof name === "string")) return "type";
  if (pattern !== undefined && typeof pattern !== "string") return "pattern";
  const named = BELOW_NAMES.map((keyword) => schema[keyword]).filter(isRecord);
  return firstIn([...BELOW.map((keyword) => schema[keyword]), ...named.flatMap((schemas) => Object.values(schemas))]);
}

function firstIn(schemas: readonly unknown[]): "type" | "pattern" | null {
  for (const schema of schemas) {
    const wrong = wrongKeywordIn(schema);
    if (wrong !== null) return wrong;
  }
  return null;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
