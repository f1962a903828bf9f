import { Ajv2020 } from "ajv/dist/2020.js";
import {
  IN_PLACE,
  IN_PLACE_LISTS,
  IN_PLACE_NAMED,
  ownOf,
  schemasIn,
  TO_PARTS,
  TO_PARTS_LISTS,
  TO_PARTS_NAMED,
} from "./applied.ts";
import { canonicalJson } from "./canonicalJson.ts";
import { isMultiple } from "./isMultiple.ts";
import { isWithin } from "./isWithin.ts";

// What the schema court would say of an answer, or `unknown`, which it is more often than for the court: that looks only at the parts
// of a schema that the answer reaches. What is decided here, the court decides in the same way.
export type Verdict = "valid" | "invalid" | "unknown";

const DRAFT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

// Characters that stand for themselves, with `^` before or `$` after them.
const PLAIN_PATTERN = /^\^?(?:[^^$\\.*+?()[\]{}|]|\\[\^$\\.*+?()[\]{}|/])*\$?$/;

const SCHEMAS = {
  single: [...IN_PLACE, ...TO_PARTS],
  lists: [...IN_PLACE_LISTS, ...TO_PARTS_LISTS],
  named: [...IN_PLACE_NAMED, ...TO_PARTS_NAMED, "$defs"],
};
// What the court does not decide, and what Ajv understands beyond the draft: OpenAPI's `nullable`, and schemas of its own that are
// to be waited for, whose failure would end the process.
const UNDECIDED = [
  ...["$dynamicRef", "$recursiveRef", "dependencies", "unevaluatedItems", "unevaluatedProperties"],
  ...["$async", "nullable"],
];

// A JSON pointer as the court and Ajv both take it: a slash that is percent-encoded is one to the court, and a tilde that escapes
// nothing leads nowhere.
const POINTER = /^#(?:\/(?:[^~%/]|~[01]|%(?!2f)[0-9a-f]{2})*)*$/i;

// A property of every object in ECMAScript, which Ajv passes over.
const PROTOTYPE = '"__proto__"';

// The court's own bounds: on a text, and on schemas that are applied within one another. And what nobody here waits for any longer.
const MAX_BYTES = 65_536;
const BOUNDS = { maxDepth: 40, maxWork: 500_000 };

const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true, logger: false });
// The court counts in decimals and not in doubles.
ajv.removeKeyword("multipleOf");
ajv.addKeyword({
  keyword: "multipleOf",
  type: "number",
  schemaType: "number",
  validate: (divisor: number, number: number) => isMultiple(number, divisor),
});

export function judgeAnswer(schema: unknown, content: unknown): Verdict {
  try {
    const texts = [canonicalJson(schema), canonicalJson(content)];
    if (texts.some((text) => Buffer.byteLength(text) > MAX_BYTES || text.includes(PROTOTYPE))) return "unknown";
    if (typeof schema === "boolean") return schema ? "valid" : "invalid";
    if (!isOfThisDraft(schema) || !isDecided(schema)) return "unknown";
    if (!isWithin(schema, content, BOUNDS)) return "unknown";
    return ajv.validate(schema as object, content) ? "valid" : "invalid";
  } catch {
    // A schema that Ajv refuses, or one that is nested deeper than can be looked into.
    return "unknown";
  } finally {
    // Otherwise every schema would be kept.
    ajv.removeSchema();
  }
}

// Whether nothing in a schema changes the meaning of all the rest. The court looks for that everywhere, also in what is only an
// example.
function isOfThisDraft(value: unknown, isRoot = true): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, inner]) => {
    if (name === "$schema" && typeof inner === "string") return DRAFT.test(inner);
    if (name === "$id" && typeof inner === "string") return isRoot;
    return isOfThisDraft(inner, false);
  });
}

// Whether the court understands all that a schema says.
function isDecided(schema: unknown): boolean {
  if (typeof schema === "boolean") return true;
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return false;
  const own = (keyword: string): unknown => ownOf(schema, keyword);
  const text = (keyword: string) => String(own(keyword) ?? "");
  if (UNDECIDED.some((keyword) => own(keyword) !== undefined)) return false;
  if (typeof (own("$id") ?? "") !== "string") return false;
  if (own("$ref") !== undefined && !POINTER.test(text("$ref"))) return false;
  if (own("pattern") !== undefined && !PLAIN_PATTERN.test(text("pattern"))) return false;
  if (!Object.keys(own("patternProperties") ?? {}).every((pattern) => PLAIN_PATTERN.test(pattern))) return false;
  // Ajv counts what is contained from behind the prefix on.
  if (own("contains") !== undefined && own("prefixItems") !== undefined) return false;
  return schemasIn(schema, SCHEMAS).every(isDecided);
}
