import { isAsking } from "./rankMethods.ts";
import type { Question, Value } from "./readQuestion.ts";
import { stemOf, wordsLike } from "./stems.ts";

// A shorter stem is the beginning of too many words.
const LEAST_STEM = 4;

// What has a form of its own is known by it: a question with a hash is about a transaction, whatever it calls it.
const FORMS: Partial<Record<Value["kind"], readonly string[]>> = {
  address: ["account"],
  hash: ["transaction"],
  date: ["day"],
};

// What a question is looked up by: its words, those that mean the same, and, because searches know beginnings of words and no
// endings, what is left of each without its ending.
export function searchTextOf({ words, values }: Question): string {
  const asked = words.filter((word) => !isAsking(word)).map(({ text }) => text);
  const stems = asked.map(stemOf).filter((stem) => stem.length >= LEAST_STEM);
  if (asked.length === 0) return "";
  return [
    ...new Set([...asked, ...asked.flatMap(wordsLike), ...stems, ...values.flatMap(({ kind }) => FORMS[kind] ?? [])]),
  ].join(" ");
}
