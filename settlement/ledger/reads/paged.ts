import type { StatementQuery } from "../../domain/charges/statement.ts";
import { lower, validCount, validTime } from "../validate.ts";

// The parameters of a page: from when and up to when, after which id, and how many. The place is the last line that was shown.
// Without one, nothing sorts before the empty id.
export function paged({ fromMs, toMs, after, limit }: StatementQuery) {
  const start = after ?? { atMs: fromMs, id: "" };
  return [
    validTime("the start", Math.max(start.atMs, fromMs)),
    validTime("the end", toMs),
    lower(start.id),
    validCount("the limit", limit),
  ];
}
