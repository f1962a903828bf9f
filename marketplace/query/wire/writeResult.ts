import type { QueryResult } from "./result.ts";

// How JSON writes half of a surrogate pair; a backslash that is part of a text is written as two.
const HALVES = /\\\\|\\ud[89a-f][0-9a-f]{2}/g;

// As JSON, with whole characters alone. Texts are cut where they are long, and a tool may say anything; the stricter SDK refuses a
// whole answer for one half of a character in it.
export const writeResult = (result: QueryResult): string => writeWhole(result);

// The same for others who read JSON more strictly than it is written here.
export function writeWhole(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud")) return text;
  return text.replace(HALVES, (found) => (found === "\\\\" ? found : "\ufffd"));
}
