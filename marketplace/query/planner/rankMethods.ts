import type { Found } from "../../discovery/createCatalogue.ts";
import type { Listing, Method } from "../../registry/listing.ts";
import { type Filled, fillArguments } from "./fillArguments.ts";
import { isRecord, propertiesOf } from "./kindOf.ts";
import type { Question, Value } from "./readQuestion.ts";
import { stemOf, stemsOf } from "./stems.ts";

export type Ranked = {
  listing: Listing;
  method: Method;
  score: number;
  // Words of the question that nothing about the method explains, and those that only its listing's own words do.
  unexplained: readonly string[];
  loosely: readonly string[];
  // The part of the question's words and values that something does.
  coverage: number;
  // Values of the question that no argument takes.
  unusedValues: readonly Value[];
  filled: Filled;
};

// Words that ask without saying what for. What compares, negates or computes is not among them: a question that has such a
// word asks for more than a tool's plain answer.
export const ASKING = new Set(
  "a about account all also an and any are as at be been between by can chart contain could did do does draw during each find following for from get give given go goes graph had happen happens has have here how i if in into include is it its know let lie list long look make many me much my need newest of on one or our out over please plot question result s series show should some take tell text that the their them there these they this those through to until up us use value want was we well were what when where which while who will with would you your"
    .split(" ")
    .map(stemOf),
);

const WEIGHTS = { name: 4, output: 3, inner: 2, description: 2, input: 1, listing: 1 } as const;

type Vocabulary = ReadonlyMap<string, number>;

const vocabularies = new WeakMap<Method, Vocabulary>();

// Everything that a method says of itself, each word with the weight of the best place in which it stands.
function vocabularyOf(method: Method): Vocabulary {
  const known = vocabularies.get(method);
  if (known !== undefined) return known;
  const words = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const stem of stemsOf(text)) words.set(stem, Math.max(weight, words.get(stem) ?? 0));
  };
  add(method.name, WEIGHTS.name);
  add(method.description, WEIGHTS.description);
  for (const { name, description, kind } of propertiesOf(method.inputSchema)) {
    add(`${name} ${description}`, WEIGHTS.input);
    // What has a form of its own is called by it, whatever the tool calls it.
    if (kind !== null) add(NAMES[kind.kind] ?? "", WEIGHTS.input);
    if (kind?.kind === "choice") for (const choice of kind.choices.slice(0, 50)) add(choice, WEIGHTS.input);
  }
  for (const { path, description } of outputsOf(method.outputSchema)) {
    add(`${path} ${description}`, path.includes(".") ? WEIGHTS.inner : WEIGHTS.output);
  }
  vocabularies.set(method, words);
  return words;
}

const NAMES: Readonly<Record<string, string>> = {
  date: "day date",
  dates: "day date",
  address: "address wallet account",
  hash: "hash transaction",
  digits: "number",
  number: "number",
  numbers: "numbers values series",
  text: "text sentence word words string phrase",
};

const MAX_OUTPUTS = 100;
const MAX_DEPTH = 4;

export type OutputProperty = { path: string; description: string };

// The properties that a method promises, those inside of others by their path.
export function outputsOf(schema: unknown, prefix = "", depth = 0): OutputProperty[] {
  if (!isRecord(schema) || depth > MAX_DEPTH) return [];
  if (isRecord(schema.items)) return outputsOf(schema.items, prefix, depth + 1);
  if (!isRecord(schema.properties)) return [];
  return Object.entries(schema.properties)
    .flatMap(([name, inner]) => {
      const path = prefix === "" ? name : `${prefix}.${name}`;
      const description = isRecord(inner) && typeof inner.description === "string" ? inner.description : "";
      return [{ path, description }, ...outputsOf(inner, path, depth + 1)];
    })
    .slice(0, MAX_OUTPUTS);
}

// All methods that could answer, best first, equals in the order in which they were found: by the words that they share with the question, the rarer among the methods the
// more; then those that take more of what the question gives.
export function rankMethods(found: readonly Found[], question: Question, earlier: readonly Value[] = []): Ranked[] {
  const asked = new Map(question.words.filter(({ stem }) => !ASKING.has(stem)).map((word) => [word.stem, word]));
  const methods = found.flatMap(({ listing, methods }) => methods.map((method) => ({ listing, method })));
  const frequency = new Map<string, number>();
  for (const { method } of methods) {
    const words = vocabularyOf(method);
    for (const stem of asked.keys()) if (words.has(stem)) frequency.set(stem, (frequency.get(stem) ?? 0) + 1);
  }
  return methods
    .map(({ listing, method }): Ranked => {
      const filled = fillArguments(method, question, earlier);
      const words = vocabularyOf(method);
      const about = new Set(stemsOf(`${listing.name} ${listing.description} ${listing.category ?? ""}`));
      const usedWords = filled.kind === "filled" ? filled.usedWords : new Set();
      let score = 0;
      const unexplained: string[] = [];
      const loosely: string[] = [];
      for (const [stem, word] of asked) {
        const weight = words.get(stem) ?? (about.has(stem) ? WEIGHTS.listing : 0);
        if (weight > 0) score += weight * Math.log(1 + methods.length / (frequency.get(stem) ?? methods.length));
        else if (!usedWords.has(word)) unexplained.push(word.text);
        if (weight > 0 && !words.has(stem) && !usedWords.has(word)) loosely.push(word.text);
      }
      const usedValues = filled.kind === "filled" ? filled.usedValues : new Set<Value>();
      const unusedValues = question.values.filter((value) => !usedValues.has(value));
      const taken = question.values.length === 0 ? 1 : 1 - unusedValues.length / question.values.length;
      return {
        listing,
        method,
        score: score * likenessOf(method, question) * (filled.kind === "filled" ? 0.5 + 0.5 * taken : 0.2),
        unexplained,
        loosely,
        coverage: coverageOf(asked.size, unexplained.length, question.values.length, unusedValues.length),
        unusedValues,
        filled,
      };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

// Values that are used make up for no word that is not understood.
function coverageOf(words: number, unexplained: number, values: number, unused: number): number {
  if (words === 0) return 0;
  return Math.min(1 - unexplained / words, 1 - (unexplained + unused) / (words + values));
}

const VERBS = new Set("get list fetch find read search show compute calculate count".split(" ").map(stemOf));

// A name of which the question has one word and not the other is of something more particular: a moving average is no average.
function likenessOf({ name }: Method, { words }: Question): number {
  const parts = name
    .split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u)
    .map(stemOf)
    .filter((stem) => stem !== "" && !VERBS.has(stem));
  const asked = new Set(words.map(({ stem }) => stem));
  const named = parts.filter((stem) => asked.has(stem)).length;
  return named === 0 ? 1 : 0.25 + (0.75 * named) / parts.length;
}
