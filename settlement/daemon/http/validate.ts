import type { z } from "zod";
import { type ApiCode, ApiError } from "./errors.ts";

const MAX_PROBLEMS = 5;

// Reads a part of a request, or says which field is wrong and what it must be.
export function validate(
  schema: z.ZodType | undefined,
  value: unknown,
  fieldCodes: Readonly<Record<string, ApiCode>> = {},
): unknown {
  if (schema === undefined) return {};
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error.issues);
  const code = fieldCodes[String(issues[0]?.path[0])] ?? "invalid_request";
  const problems = issues.slice(0, MAX_PROBLEMS).map((issue) => describe(issue, value));
  // The name of a field stays as it is written, so it is not where the sentence begins.
  throw new ApiError(code, `the request cannot be taken: ${problems.join("; ")}`);
}

// Of several shapes that a body may have, the one that was meant: it knows every field that was sent, or has the fewest
// faults.
function issuesOf(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const [first] = issues;
  if (first?.code !== "invalid_union" || first.path.length > 0) return issues;
  const faults = (shape: readonly z.core.$ZodIssue[]) =>
    shape.length + (shape.some(({ code }) => code === "unrecognized_keys") ? MAX_PROBLEMS : 0);
  return first.errors.toSorted((a, b) => faults(a) - faults(b))[0] ?? issues;
}

function describe(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "unrecognized_keys") return `${issue.keys.slice(0, MAX_PROBLEMS).join(", ")} is not known here`;
  // A rule about several fields says itself what is missing.
  if (issue.path.length === 0) return issue.code === "custom" ? issue.message : "the body must be a JSON object";
  const name = issue.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  const missing = issue.path.reduce<unknown>((held, part) => (held as Record<PropertyKey, unknown>)?.[part], value);
  return `${name.slice(1)} ${missing === undefined ? "is missing" : issue.message}`;
}
