// How Node names a connection that failed, that was cut, or on which nobody answered.
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_SOCKET",
]);

// Node and Hardhat wrap the cause of a failed connection several times over.
const MAX_CAUSES = 8;

// Whether the node gave no answer, which says nothing about what it did.
export function isUnreachable(error: unknown): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < MAX_CAUSES; cause = cause.cause, depth += 1) {
    if ("code" in cause && typeof cause.code === "string" && UNREACHABLE.has(cause.code)) return true;
  }
  return false;
}
