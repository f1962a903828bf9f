import { Ajv2020 } from "ajv/dist/2020.js";

// What the schema court would say of an answer. It says `unknown` more often than the court, which looks only at the parts of
// a schema that the answer reaches; but it never says `valid` where the court says `invalid`, or the other way round.
export type Verdict = "valid" | "invalid" | "unknown";

const DRAFT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

// Characters that stand for themselves, with `^` before or `$` after them.
const PLAIN_PATTERN = /^\^?(?:[^^$\\.*+?()[\]{}|]|\\[\^$\\.*+?()[\]{}|/])*\$?$/;

const ONE_SCHEMA = ["not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames"];
const SCHEMA_LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const NAMED_SCHEMAS = ["properties", "patternProperties", "dependentSchemas", "$defs"];
const UNDECIDED = ["$dynamicRef", "$recursiveRef", "dependencies", "unevaluatedItems", "unevaluatedProperties"];

// The court counts in decimals. Quotients of doubles are rounded to where decimals of a usual length are exact.
const ajv = new Ajv2020({
  strict: false,
  validateFormats: false,
  ownProperties: true,
  logger: false,
  multipleOfPrecision: 9,
});

export function judgeAnswer(schema: unknown, content: unknown): Verdict {
  if (typeof schema === "boolean") return schema ? "valid" : "invalid";
  if (!isDecided(schema, true)) return "unknown";
  try {
    return ajv.validate(schema as object, content) ? "valid" : "invalid";
  } catch {
    // A schema that Ajv refuses, or that refers to itself without end.
    return "unknown";
  } finally {
    // Otherwise every schema would be kept.
    ajv.removeSchema(schema as object);
  }
}

// Whether the court understands all that a schema says.
function isDecided(schema: unknown, isRoot = false): boolean {
  if (typeof schema === "boolean") return true;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return false;
  const own = (keyword: string): unknown => (Object.hasOwn(schema, keyword) ? schema[keyword as never] : undefined);
  const text = (keyword: string) => String(own(keyword) ?? "");
  if (UNDECIDED.some((keyword) => own(keyword) !== undefined)) return false;
  if (own("$schema") !== undefined && !DRAFT.test(text("$schema"))) return false;
  if (own("$id") !== undefined && !isRoot) return false;
  if (own("$ref") !== undefined && !/^#(\/|$)/.test(text("$ref"))) return false;
  if (own("pattern") !== undefined && !PLAIN_PATTERN.test(text("pattern"))) return false;
  if (!Object.keys(own("patternProperties") ?? {}).every((pattern) => PLAIN_PATTERN.test(pattern))) return false;
  return [
    ...ONE_SCHEMA.map(own).filter((inner) => inner !== undefined),
    ...SCHEMA_LISTS.flatMap((keyword) => own(keyword) ?? []),
    ...NAMED_SCHEMAS.flatMap((keyword) => Object.values(own(keyword) ?? {})),
  ].every((inner) => isDecided(inner));
}
