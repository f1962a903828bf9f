import type { JsonSchema } from "../mcp/createMcpClient.ts";

export type Input = { name: string; type: string; isRequired: boolean; description: string };

const MAX_INPUTS = 50;
const MAX_VALUES = 6;
const MAX_TEXT = 300;
const MAX_DEPTH = 3;

// What a method takes, for people: the properties of its schema, one level deep.
export function inputsOf({ properties, required }: JsonSchema): readonly Input[] {
  if (!isRecord(properties)) return [];
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties)
    .slice(0, MAX_INPUTS)
    .map(([name, schema]) => ({
      name,
      type: typeOf(schema),
      isRequired: needed.has(name),
      description: isRecord(schema) && typeof schema.description === "string" ? cut(schema.description) : "",
    }));
}

function typeOf(schema: unknown, depth = 0): string {
  if (!isRecord(schema) || depth > MAX_DEPTH) return "anything";
  if (Array.isArray(schema.enum)) {
    const shown = schema.enum.slice(0, MAX_VALUES).map((value) => cut(JSON.stringify(value) ?? "null"));
    return shown.join(" | ") + (schema.enum.length > MAX_VALUES ? " | …" : "");
  }
  if ("const" in schema) return cut(JSON.stringify(schema.const) ?? "null");
  const { type } = schema;
  if (type === "array") return `list of ${typeOf(schema.items, depth + 1)}`;
  // What is no text stays out: made into one, it may be anything, or throw.
  if (Array.isArray(type)) return cut(type.filter((name) => typeof name === "string").join(" | "));
  return typeof type === "string" ? cut(type) : "anything";
}

const cut = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
