import { IN_PLACE, IN_PLACE_LISTS, ownOf, schemasIn, TO_PARTS_LISTS } from "./applied.ts";

export type Bounds = { maxDepth: number; maxWork: number };

// Whether a value can be judged by a schema with no more schemas than that applied within one another, and no more steps than that in
// all, however it turns out. A schema is written by whoever is judged by it: with references, a small one can take unbounded time, or
// more memory than there is. So it is gone through here as a validator would in the worst case, and given up at the bound.
export function isWithin(root: unknown, content: unknown, { maxDepth, maxWork }: Bounds): boolean {
  let work = 0;
  function isBelow(steps: number): boolean {
    work += steps;
    return work <= maxWork;
  }

  function apply(schema: unknown, value: unknown, depth: number): boolean {
    if (typeof schema !== "object" || schema === null) return isBelow(1);
    if (depth > maxDepth || !isBelow(1 + Object.keys(schema).length)) return false;
    const next = (inner: unknown, part: unknown) => inner === undefined || apply(inner, part, depth + 1);
    if (!inPlace(schema).every((inner) => next(inner, value))) return false;
    if (Array.isArray(value)) return applyToItems(schema, value, next);
    return typeof value !== "object" || value === null || applyToMembers(schema, value, next);
  }

  type Next = (inner: unknown, part: unknown) => boolean;

  function applyToItems(schema: object, items: readonly unknown[], next: Next): boolean {
    // Each is compared with each.
    if (ownOf(schema, "uniqueItems") === true && !isBelow(items.length ** 2)) return false;
    const prefixes = schemasIn(schema, { single: [], lists: TO_PARTS_LISTS, named: [] });
    const each = [ownOf(schema, "items"), ownOf(schema, "contains")];
    return items.every((item, i) => next(prefixes[i], item) && each.every((inner) => next(inner, item)));
  }

  function applyToMembers(schema: object, value: object, next: Next): boolean {
    const properties = (ownOf(schema, "properties") ?? {}) as object;
    const dependent = (ownOf(schema, "dependentSchemas") ?? {}) as object;
    const each = [ownOf(schema, "additionalProperties"), ...valuesOf(ownOf(schema, "patternProperties"))];
    return Object.entries(value).every(
      ([name, part]) =>
        isBelow(1 + each.length) &&
        next(ownOf(properties, name), part) &&
        next(ownOf(dependent, name), value) &&
        next(ownOf(schema, "propertyNames"), name) &&
        each.every((inner) => next(inner, part)),
    );
  }

  function inPlace(schema: object): unknown[] {
    const inner = schemasIn(schema, { single: IN_PLACE, lists: IN_PLACE_LISTS, named: [] });
    const reference = ownOf(schema, "$ref");
    return typeof reference === "string" ? [...inner, targetOf(root, reference)] : inner;
  }

  return apply(root, content, 1);
}

const valuesOf = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value) : [];

// What a reference within a schema points to.
function targetOf(root: unknown, reference: string): unknown {
  const tokens = reference.slice("#".length).split("/").slice(1);
  return tokens.reduce<unknown>((value, token) => {
    const name = decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
    return typeof value === "object" && value !== null ? ownOf(value, name) : undefined;
  }, root);
}
