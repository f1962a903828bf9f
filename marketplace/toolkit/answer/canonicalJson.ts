// One text for one JSON value, as RFC 8785 (JSON Canonicalization Scheme) has it: keys in the order of their UTF-16 units, no
// spaces, numbers and texts as ECMAScript writes them. Two who hold the same value hash the same bytes.
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value)
      .filter(([, field]) => field !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`);
    return `{${fields.join(",")}}`;
  }
  // What JSON has no number for would be written as null, and two values would have one text.
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`${value} is no JSON value`);
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`a ${typeof value} is no JSON value`);
  return text;
}
