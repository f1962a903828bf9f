import type { JsonSchema } from "../mcp/createMcpClient.ts";

const MAX_DEPTH = 8;
// Of one sample. A few nested lists can ask for a hundred million values, and whoever opens the page of a tool has them made.
const MAX_VALUES = 1_000;
const MAX_CHARACTERS = 10_000;

// What may still be made. Once something does not fit, nothing more does.
type Budget = { values: number; characters: number };

// Arguments with which a method can be tried: of each required property the default, else the first example, else the first
// of an enumeration, else something of its type. What would be too much is left empty.
export function sampleArguments(schema: JsonSchema): Record<string, unknown> {
  const budget: Budget = { values: MAX_VALUES, characters: MAX_CHARACTERS };
  spend(budget, 1, 2);
  return sampleObject(schema, 0, budget);
}

// Whether so much is left, with the comma that follows.
function spend(budget: Budget, values: number, characters: number): boolean {
  budget.values -= values;
  budget.characters -= characters + 1;
  if (budget.values >= 0 && budget.characters >= 0) return true;
  budget.values = 0;
  budget.characters = 0;
  return false;
}

function sampleObject(schema: JsonSchema, depth: number, budget: Budget): Record<string, unknown> {
  const { properties, required } = schema;
  if (!isRecord(properties) || !Array.isArray(required)) return {};
  const entries: [string, unknown][] = [];
  for (const name of new Set(required)) {
    if (typeof name !== "string" || !Object.hasOwn(properties, name)) continue;
    // As many as a property that is null needs, so that it can always be that.
    if (!spend(budget, 1, JSON.stringify(name).length + 1 + NULL_LENGTH)) break;
    entries.push([name, sample(properties[name], depth + 1, budget)]);
  }
  return Object.fromEntries(entries);
}

const NULL_LENGTH = "null".length;

function sample(schema: unknown, depth: number, budget: Budget): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null;
  if ("default" in schema) return given(schema.default, budget);
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return given(schema.examples[0], budget);
  if ("const" in schema) return given(schema.const, budget);
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return given(schema.enum[0], budget);
  for (const branches of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(branches) && branches.length > 0) return sample(branches[0], depth + 1, budget);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "string":
      return given("test".padEnd(Math.min(countOf(schema.minLength), 100), "x"), budget);
    case "integer":
    case "number":
      return given(typeof schema.minimum === "number" ? schema.minimum : 1, budget);
    case "boolean":
      return true;
    case "array":
      return sampleList(schema, depth, budget);
    case "object":
      return sampleObject(schema, depth, budget);
    default:
      return null;
  }
}

function sampleList({ minItems, items }: JsonSchema, depth: number, budget: Budget): unknown[] {
  const list: unknown[] = [];
  while (list.length < Math.min(countOf(minItems), 10) && spend(budget, 1, NULL_LENGTH)) {
    list.push(sample(items, depth + 1, budget));
  }
  return list;
}

// A value as its contributor wrote it. Its place is paid for; what it has inside is not.
function given(value: unknown, budget: Budget): unknown {
  if (budget.characters === 0) return null;
  return spend(budget, valuesIn(value), (JSON.stringify(value) ?? "").length) ? value : null;
}

const valuesIn = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((sum, inner) => sum + 1 + valuesIn(inner), 0)
    : 0;

const countOf = (value: unknown) => (typeof value === "number" && value > 0 ? value : 0);

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
