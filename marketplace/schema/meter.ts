import { type KeywordDefinition, str } from "ajv";
import type { JsonSchema } from "../mcp/createMcpClient.ts";

export class WorkTooLarge extends Error {}

// What a node of a metered schema makes Ajv do for one value: so much for itself, and whether it goes through the names.
type Spends = { weight: number; names: boolean };

// A second of a core at the most; an answer of a million numbers takes a fifth of it.
const MAX_WORK = 5_000_000;
const CHARACTERS_PER_UNIT = 8;

// Names of our own, which a relaxed schema does not have.
const SPENDS = "x-spends";
const MIN_LENGTH = "x-minLength";
const MAX_LENGTH = "x-maxLength";

// Each value of an answer may be looked at by each part of a schema, so that a small schema and a small answer, which the
// same stranger writes, make hours of work. Counts the work while it is done, and ends it when it is more than an honest
// answer takes.
export function createMeter(): { keywords: readonly KeywordDefinition[]; fill(): void } {
  let left = 0;
  const spend = (work: number) => {
    left -= work;
    if (left < 0) throw new WorkTooLarge("the answer is too large to be checked against this schema");
  };
  const length = (keyword: string, isRight: (limit: number, text: string) => boolean, message: string) => ({
    keyword,
    type: "string" as const,
    schemaType: "number" as const,
    errors: false,
    error: {
      message: ({ schema }: { schema: unknown }) => str`must NOT have ${message} than ${schema as number} characters`,
    },
    validate: isRight,
  });
  // Characters are counted only where the units leave a doubt.
  const countOf = (text: string) => {
    spend(text.length / CHARACTERS_PER_UNIT);
    let count = 0;
    for (const _ of text) count += 1;
    return count;
  };
  return {
    keywords: [
      {
        keyword: SPENDS,
        schemaType: "object",
        errors: false,
        // Whatever takes longer than a moment comes after it.
        before: "const",
        validate: ({ weight, names }: Spends, value: unknown) => {
          spend(weight + (names && typeof value === "object" && value !== null ? Object.keys(value).length : 0));
          return true;
        },
      },
      length(
        MIN_LENGTH,
        (min, text) => text.length >= 2 * min || (text.length >= min && countOf(text) >= min),
        "fewer",
      ),
      length(MAX_LENGTH, (max, text) => text.length <= max || (text.length <= 2 * max && countOf(text) <= max), "more"),
    ],
    fill() {
      left = MAX_WORK;
    },
  };
}

const IN_LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"] as const;
const ALONE = ["additionalProperties", "items", "not"] as const;

// The same relaxed schema, with the work that each of its nodes makes.
export function meter(schema: unknown): unknown {
  if (!isRecord(schema)) return schema;
  const { minLength, maxLength, properties, ...rest } = schema;
  const metered: JsonSchema = { ...rest, [SPENDS]: spendsOf(schema) };
  if (typeof minLength === "number") metered[MIN_LENGTH] = minLength;
  if (typeof maxLength === "number") metered[MAX_LENGTH] = maxLength;
  for (const name of ALONE) if (name in metered) metered[name] = meter(metered[name]);
  for (const name of IN_LISTS) if (Array.isArray(metered[name])) metered[name] = metered[name].map(meter);
  if (isRecord(properties)) {
    metered.properties = Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, meter(inner)]));
  }
  return metered;
}

// A part that says no at once has spent nothing itself, so whoever holds it pays for the look.
function spendsOf(schema: JsonSchema): Spends {
  const { properties, required } = schema;
  const named = isRecord(properties) ? Object.keys(properties).length : 0;
  const listed = [required, ...IN_LISTS.map((name) => schema[name])].map((list) =>
    Array.isArray(list) ? list.length : 0,
  );
  const compared = JSON.stringify([schema.const, schema.enum]).length;
  return {
    weight: [1 + named + Math.floor(compared / CHARACTERS_PER_UNIT), ...listed].reduce((sum, part) => sum + part),
    names: ["additionalProperties", "maxProperties", "minProperties"].some((name) => name in schema),
  };
}

const isRecord = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
