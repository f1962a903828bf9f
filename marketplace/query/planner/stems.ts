import { tokensOf } from "../../discovery/terms.ts";

// Longest first: what is left must still say what the word is about.
const SUFFIXES = [
  ["ements", 4],
  ["ement", 4],
  ["ations", 4],
  ["ation", 4],
  ["ities", 4],
  ["fully", 4],
  ["ates", 4],
  ["ated", 4],
  ["ments", 4],
  ["ment", 4],
  ["ings", 4],
  ["ions", 4],
  ["ful", 4],
  ["ity", 4],
  ["ate", 4],
  ["ing", 4],
  ["ion", 4],
  ["ed", 4],
  ["es", 4],
  ["e", 3],
  ["s", 3],
] as const;

// Words that mean the same in a question, under the first of them. About counting and comparing, which every subject has; what
// belongs to one subject is for its tools to say.
const SYNONYMS: readonly (readonly string[])[] = [
  ["mean", "average", "avg"],
  ["maximum", "max", "largest", "highest", "biggest", "greatest", "deepest"],
  ["minimum", "min", "smallest", "lowest", "least"],
  ["newest", "latest", "current", "currently", "now", "recent"],
  ["most", "top", "frequent", "frequently"],
  ["median", "middle"],
  ["standard", "std"],
  ["deviation", "dev", "stdev", "stddev", "sd"],
  ["time", "timestamp"],
  ["success", "succeed", "succeeded", "successful"],
  ["similarity", "alike", "similar", "resemble", "overlap"],
  ["business", "working"],
  ["transaction", "tx", "txn"],
  ["price", "cost", "fee"],
  ["email", "mail"],
  ["count", "many", "number"],
  ["fall", "drop", "decline", "loss"],
  ["moving", "rolling"],
  ["total", "overall"],
  ["url", "link", "hyperlink"],
];

const CANONICAL = new Map(
  SYNONYMS.flatMap(([first = "", ...others]) => others.map((word) => [stemmed(word), stemmed(first)] as const)),
);

// The form in which words of a question and of a tool are compared: lower case, without accents and endings, one for all that
// mean the same.
export function stemOf(word: string): string {
  const plain = stemmed(word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase());
  return CANONICAL.get(plain) ?? plain;
}

function stemmed(word: string): string {
  if (/(ss|us|is|eed)$/.test(word)) return word;
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  const ending = SUFFIXES.find(([suffix, least]) => word.endsWith(suffix) && word.length - suffix.length >= least);
  return ending === undefined ? word : word.slice(0, -ending[0].length);
}

// A word and those that mean the same, for searches that know no meanings.
export function wordsLike(word: string): readonly string[] {
  const stem = stemOf(word);
  const group = SYNONYMS.find(([first = ""]) => stemmed(first) === stem);
  return group === undefined ? [word] : [word, ...group.filter((other) => other !== word.toLowerCase())];
}

export const stemsOf = (text: string): string[] => tokensOf(text).map(stemOf);
