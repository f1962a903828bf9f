// Whether a value of JSON has no half of a surrogate pair in its texts and names. JSON can carry one, and strict clients refuse a
// whole answer for it. The value's depth was bounded when it was read.
export function isWellFormed(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, inner]) => name.isWellFormed() && isWellFormed(inner));
}
