import { type Json, NAMES } from "./schemas.ts";

// A number from 0 up to, but not including, 1.
export type Random = () => number;

const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

// A value that the schema would probably accept. It follows the keywords that say most, and is not clever about the rest:
// what it misses are the refusals that the comparison needs as well.
export function valueFor(schema: Json | undefined, random: Random, depth = 4): Json {
  if (!isObject(schema) || depth === 0) return anything(random, depth);
  const own = (keyword: string) => (Object.hasOwn(schema, keyword) ? schema[keyword] : undefined);
  if (own("const") !== undefined) return own("const") as Json;
  const chosen = own("enum");
  if (Array.isArray(chosen)) return pick(random, chosen);
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const branches = own(keyword);
    if (Array.isArray(branches) && random() < 0.7) return valueFor(pick(random, branches), random, depth - 1);
  }
  if (isObject(own("if")) && random() < 0.7)
    return valueFor(own(pick(random, ["if", "then", "else"])), random, depth - 1);
  switch (kindFor(schema, random)) {
    case "null":
      return null;
    case "boolean":
      return random() < 0.5;
    case "integer":
      return Math.round(numberFor(schema, random));
    case "number":
      return numberFor(schema, random);
    case "string":
      return stringFor(schema, random);
    case "array":
      return arrayFor(schema, random, depth);
    default:
      return objectFor(schema, random, depth);
  }
}

// The kind that the schema names or, if it does not, one that its keywords are about.
function kindFor(schema: { [keyword: string]: Json }, random: Random): string {
  const types = schema.type;
  if (typeof types === "string") return types;
  if (Array.isArray(types)) return String(pick(random, types));
  const mentions = (pattern: RegExp) => Object.keys(schema).some((keyword) => pattern.test(keyword));
  const kinds = [
    ...(mentions(/Length|^pattern$/) ? ["string"] : []),
    ...(mentions(/imum|multipleOf/) ? ["number"] : []),
    ...(mentions(/tems$|ontains/) ? ["array"] : []),
    ...(mentions(/ropert|required|dependent/i) ? ["object"] : []),
  ];
  return pick(random, kinds.length > 0 ? kinds : ["null", "boolean", "integer", "number", "string", "array", "object"]);
}

function numberFor(schema: { [keyword: string]: Json }, random: Random): number {
  const limit = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
    .map((keyword) => schema[keyword])
    .find((value) => typeof value === "number");
  const base = typeof limit === "number" ? limit : pick(random, [0, 1, 3, 12, -2.5, 100]);
  const step = typeof schema.multipleOf === "number" ? schema.multipleOf : pick(random, [0.125, 1, 2]);
  return base + step * Math.floor(random() * 5 - 2);
}

function stringFor(schema: { [keyword: string]: Json }, random: Random): string {
  const least = Number(schema.minLength ?? 0);
  const text = pick(random, ["", "a", "abc", "x-1", "Ä", "😀", "50%", "b", "a/b"]);
  return text + pick(random, ["a", "😀", "é"]).repeat(Math.max(0, least - [...text].length));
}

function arrayFor(schema: { [keyword: string]: Json }, random: Random, depth: number): Json[] {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const length = Math.floor(random() * 4) + (random() < 0.5 ? Number(schema.minItems ?? 0) : 0);
  return Array.from({ length }, (_, i) =>
    valueFor(prefix[i] ?? (random() < 0.5 ? schema.contains : schema.items) ?? schema.items, random, depth - 1),
  );
}

function objectFor(schema: { [keyword: string]: Json }, random: Random, depth: number): { [name: string]: Json } {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const names = new Set<string>(Array.isArray(schema.required) ? schema.required.map(String) : []);
  for (const name of Object.keys(properties)) if (random() < 0.7) names.add(name);
  const dependent = isObject(schema.dependentRequired) ? schema.dependentRequired : {};
  for (const [name, others] of Object.entries(dependent)) {
    if (random() < 0.5 && Array.isArray(others)) for (const other of [name, ...others]) names.add(String(other));
  }
  while (random() < 0.4) names.add(pick(random, NAMES));
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      valueFor(Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties, random, depth - 1),
    ]),
  );
}

function anything(random: Random, depth: number): Json {
  const scalars: Json[] = [null, true, false, 0, 1, -1, 2.5, 12, "", "a", "abc", "😀"];
  if (depth <= 1 || random() < 0.6) return pick(random, scalars);
  return random() < 0.5
    ? Array.from({ length: Math.floor(random() * 4) }, () => anything(random, depth - 2))
    : Object.fromEntries(
        Array.from({ length: Math.floor(random() * 4) }, () => [pick(random, NAMES), anything(random, depth - 2)]),
      );
}

// The same value but for one small thing: nearly what it was.
export function nudge(value: Json, random: Random): Json {
  if (Array.isArray(value) && value.length > 0) {
    const at = Math.floor(random() * value.length);
    const replaced = value.map((item, i) => (i === at ? nudge(item, random) : item));
    return pick<Json[]>(random, [value.slice(1), [...value, value[at] as Json], [...value, null], replaced, replaced]);
  }
  if (isObject(value) && Object.keys(value).length > 0) {
    const name = pick(random, Object.keys(value));
    const { [name]: inner, ...others } = value;
    const replaced = { ...value, [name]: nudge(inner as Json, random) };
    return pick<Json>(random, [others, { ...value, [pick(random, NAMES)]: 1 }, replaced, replaced, replaced]);
  }
  if (typeof value === "number") return pick(random, [value + 1, value - 1, value + 0.125, -value, String(value)]);
  if (typeof value === "string") return pick(random, [`${value}a`, [...value].slice(1).join(""), `${value}😀`, 0]);
  return pick<Json>(random, [null, true, false, 0, "", [], {}]);
}

// Mulberry32 by Tommy Ettinger: enough for picking among a few things, and the same on every machine.
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
