import { hash } from "node:crypto";
import { ApiError } from "../../settlement/daemon/http/errors.ts";

const PLAIN = /^[\x21-\x7e]{1,200}$/;

// The public SDKs send whatever text their caller gives them, as far as a header can hold it. What is long, or has spaces or letters
// beyond ASCII, is known by its hash: it is as good a name, and fits where names are kept.
export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header !== "string" || header.trim() === "") {
    throw new ApiError("invalid_request", "Idempotency-Key must have some text; leave it out for a call without one");
  }
  return PLAIN.test(header) ? header : `sha256:${hash("sha256", header)}`;
}
