import type { JsonSchema } from "../mcp/createMcpClient.ts";

const MAX_DEPTH = 8;

// Arguments with which a method can be tried: of each required property the default, else the first example, else the first
// of an enumeration, else something of its type.
export function sampleArguments(schema: JsonSchema): Record<string, unknown> {
  return sampleObject(schema, 0);
}

function sampleObject(schema: JsonSchema, depth: number): Record<string, unknown> {
  const { properties, required } = schema;
  if (!isRecord(properties) || !Array.isArray(required)) return {};
  return Object.fromEntries(
    required
      .filter((name): name is string => typeof name === "string" && Object.hasOwn(properties, name))
      .map((name) => [name, sample(properties[name], depth + 1)]),
  );
}

function sample(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null;
  if ("default" in schema) return schema.default;
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0];
  if ("const" in schema) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  for (const branches of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(branches) && branches.length > 0) return sample(branches[0], depth + 1);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "string":
      return "test".padEnd(Math.min(countOf(schema.minLength), 100), "x");
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? schema.minimum : 1;
    case "boolean":
      return true;
    case "array":
      return Array.from({ length: Math.min(countOf(schema.minItems), 10) }, () => sample(schema.items, depth + 1));
    case "object":
      return sampleObject(schema, depth);
    default:
      return null;
  }
}

const countOf = (value: unknown) => (typeof value === "number" && value > 0 ? value : 0);

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
