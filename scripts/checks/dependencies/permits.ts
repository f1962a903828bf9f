import satisfies from "spdx-satisfies";

// Whether a licence expression in SPDX's form is permitted by a list of licences. What is not such an expression is not:
// a person must read it.
export function permits(allowed: ReadonlySet<string>, expression: string): boolean {
  try {
    return satisfies(expression, [...allowed]);
  } catch {
    return false;
  }
}
