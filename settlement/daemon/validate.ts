import type { z } from "zod";
import { type ApiCode, ApiError } from "./errors.ts";

const MAX_PROBLEMS = 5;

// Reads a part of a request, or says which field is wrong and what it has to be.
export function validate(
  schema: z.ZodType | undefined,
  value: unknown,
  fieldCodes: Readonly<Record<string, ApiCode>> = {},
): unknown {
  if (schema === undefined) return {};
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const code = fieldCodes[String(issues[0]?.path[0])] ?? "invalid_request";
  const problems = issues.slice(0, MAX_PROBLEMS).map((issue) => describe(issue, value));
  throw new ApiError(code, `${problems.join("; ")}.`);
}

function describe(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === "unrecognized_keys") return `${issue.keys.slice(0, MAX_PROBLEMS).join(", ")} is not known here`;
  if (issue.path.length === 0) return "The body has to be a JSON object";
  const name = issue.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("");
  const missing = issue.path.reduce<unknown>((held, part) => (held as Record<PropertyKey, unknown>)?.[part], value);
  return `${name.slice(1)} ${missing === undefined ? "is missing" : issue.message}`;
}
