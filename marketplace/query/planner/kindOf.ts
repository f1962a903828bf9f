import type { JsonSchema } from "../../mcp/createMcpClient.ts";

// What a property of a method's input takes, as far as a question can give it. Null: nothing that is understood here.
export type Kind =
  | { kind: "date" | "address" | "hash" | "digits" | "number" | "numbers" | "dates" | "text" }
  | { kind: "choice"; choices: readonly string[] };

// Patterns are the tool's and can be made to hang whoever tries them, so they are compared with those that people write and
// never run.
const PATTERNS: readonly (readonly [RegExp, Kind["kind"]])[] = [
  [/^\^0x\[(?:0-9a-fA-F|a-fA-F0-9|0-9A-Fa-f)\]\{40\}\$$/, "address"],
  [/^\^0x\[(?:0-9a-fA-F|a-fA-F0-9|0-9A-Fa-f)\]\{64\}\$$/, "hash"],
  [/^\^(?:\\d|\[0-9\])\+\$$/, "digits"],
  [/^\^(?:\\d|\[0-9\])\{4\}-(?:\\d|\[0-9\])\{2\}-(?:\\d|\[0-9\])\{2\}\$$/, "date"],
];

export function kindOf(schema: unknown): Kind | null {
  if (!isRecord(schema)) return null;
  const { type, format, pattern, items } = schema;
  const choices = Array.isArray(schema.enum) ? schema.enum.filter((one) => typeof one === "string") : [];
  if (choices.length > 0) return { kind: "choice", choices };
  switch (type) {
    case "integer":
    case "number":
      return { kind: "number" };
    case "array": {
      const inner = kindOf(items);
      if (inner?.kind === "number") return { kind: "numbers" };
      return inner?.kind === "date" ? { kind: "dates" } : null;
    }
    case "string": {
      if (format === "date") return { kind: "date" };
      if (format !== undefined) return null;
      if (pattern === undefined) return { kind: "text" };
      const known = PATTERNS.find(([written]) => written.test(String(pattern)));
      return known === undefined ? null : ({ kind: known[1] } as Kind);
    }
    default:
      return null;
  }
}

export type Property = {
  name: string;
  description: string;
  isRequired: boolean;
  schema: JsonSchema;
  kind: Kind | null;
};

export function propertiesOf({ properties, required }: JsonSchema): Property[] {
  if (!isRecord(properties)) return [];
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    description: isRecord(schema) && typeof schema.description === "string" ? schema.description : "",
    // What has a default can be left out, whatever the list says: generators name it there too.
    isRequired: needed.has(name) && !(isRecord(schema) && "default" in schema),
    schema: isRecord(schema) ? schema : {},
    kind: kindOf(schema),
  }));
}

export const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
