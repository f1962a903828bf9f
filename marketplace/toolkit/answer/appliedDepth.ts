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

// At most how many schemas are applied within one another when a value is judged; without end if one comes back to itself. Whatever
// could be applied to any part of a value counts as applied to every part.
export function appliedDepth(root: unknown, content: unknown): number {
  const depths = new Map<object, Map<unknown, number>>();

  function depthOf(schema: unknown, value: unknown): number {
    if (typeof schema !== "object" || schema === null) return 0;
    const ofSchema = depths.get(schema) ?? new Map<unknown, number>();
    depths.set(schema, ofSchema);
    // What has no parts is as deep as any other.
    const key = typeof value === "object" && value !== null ? value : null;
    const known = ofSchema.get(key);
    if (known !== undefined) return known;
    ofSchema.set(key, Number.POSITIVE_INFINITY);
    let deepest = 0;
    for (const inner of inPlace(schema)) deepest = Math.max(deepest, depthOf(inner, value));
    const parts = key === null ? [] : [null, ...Object.values(key)];
    for (const inner of parts.length === 0 ? [] : toParts(schema)) {
      for (const part of parts) deepest = Math.max(deepest, depthOf(inner, part));
    }
    ofSchema.set(key, 1 + deepest);
    return 1 + deepest;
  }

  function inPlace(schema: object): unknown[] {
    const inner = schemasIn(schema, { single: IN_PLACE, lists: IN_PLACE_LISTS, named: IN_PLACE_NAMED });
    const reference = ownOf(schema, "$ref");
    return typeof reference === "string" ? [...inner, targetOf(root, reference)] : inner;
  }

  const toParts = (schema: object) =>
    schemasIn(schema, { single: TO_PARTS, lists: TO_PARTS_LISTS, named: TO_PARTS_NAMED });

  return depthOf(root, content);
}

// What a reference within a schema points to.
function targetOf(root: unknown, reference: string): unknown {
  const tokens = reference.slice("#".length).split("/").slice(1);
  return tokens.reduce<unknown>((value, token) => {
    const name = decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
    return typeof value === "object" && value !== null ? ownOf(value, name) : undefined;
  }, root);
}
