// Where the schemas are that a schema applies: to the value itself, or to what is in it.
export const IN_PLACE = ["not", "if", "then", "else"];
export const IN_PLACE_LISTS = ["allOf", "anyOf", "oneOf"];
export const IN_PLACE_NAMED = ["dependentSchemas"];
export const TO_PARTS = ["items", "contains", "additionalProperties", "propertyNames"];
export const TO_PARTS_LISTS = ["prefixItems"];
export const TO_PARTS_NAMED = ["properties", "patternProperties"];

export const ownOf = (schema: object, keyword: string): unknown =>
  Object.hasOwn(schema, keyword) ? schema[keyword as never] : undefined;

// The schemas under some keywords of a schema.
export const schemasIn = (
  schema: object,
  { single, lists, named }: Record<"single" | "lists" | "named", readonly string[]>,
): unknown[] => [
  ...single.map((keyword) => ownOf(schema, keyword)).filter((inner) => inner !== undefined),
  ...lists.flatMap((keyword) => ownOf(schema, keyword) ?? []),
  ...named.flatMap((keyword) => Object.values(ownOf(schema, keyword) ?? {})),
];
