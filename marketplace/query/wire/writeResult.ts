import type { QueryResult } from "./result.ts";

// How JSON writes half of a surrogate pair; a backslash that is part of a text is written as two.
const HALVES = /\\\\|\\ud[89a-f][0-9a-f]{2}/g;

// As JSON, with whole characters alone. Texts are cut where they are long, and a tool may say anything; the stricter SDK refuses a
// whole answer for one half of a character in it.
export function writeResult(result: QueryResult): string {
  const text = JSON.stringify(result);
  if (!text.includes("\\ud")) return text;
  return text.replace(HALVES, (found) => (found === "\\\\" ? found : "\ufffd"));
}
