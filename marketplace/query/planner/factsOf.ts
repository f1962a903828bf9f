import type { Method } from "../../registry/listing.ts";
import { isRecord } from "./kindOf.ts";
import { ASKS_FOR, isAsking, outputsOf, turnsQuestion } from "./rankMethods.ts";
import type { Question, Word } from "./readQuestion.ts";
import { stemOf, stemsOf } from "./stems.ts";

// One thing that a tool has said: a scalar, or a list of them.
export type ToolFact = { path: string; label: string; value: unknown; relevance: number };

const MAX_FACTS = 200;
const MAX_DEPTH = 6;
// Whatever is longer is nobody's name for anything.
const MAX_NAME_LENGTH = 500;

// Takes an answer apart into scalars, lists of them, and tables. No more of it is looked at than is kept: a tool may answer a
// million of them.
export function flatten(value: unknown, path = "", depth = 0, room = MAX_FACTS): { path: string; value: unknown }[] {
  if (value === null || typeof value !== "object") return path === "" ? [] : [{ path, value }];
  if (depth > MAX_DEPTH) return [];
  const isList = Array.isArray(value);
  if (isList && (isTable(value) || value.every((one) => one === null || typeof one !== "object"))) {
    return [{ path, value }];
  }
  const facts: { path: string; value: unknown }[] = [];
  for (const [name, inner] of Object.entries(value)) {
    if (facts.length >= room) break;
    if (name.length > MAX_NAME_LENGTH) continue;
    const place = isList ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
    facts.push(...flatten(inner, place, depth + 1, room - facts.length));
  }
  return facts;
}

// An answer as facts, those first that the question asks for. What a tool only repeats of its arguments says nothing.
export function factsOf(
  value: unknown,
  { question, method, args }: { question: Question; method: Method; args: Readonly<Record<string, unknown>> },
): ToolFact[] {
  const asked = askedIn(question);
  const lesser = lesserIn(question, method);
  const countsAreAsked = question.words.some(({ text }) => isMany(text));
  const wantsAll = asksForAll(question, method);
  const described = new Map(outputsOf(method.outputSchema).map(({ path, description }) => [path, description]));
  return flatten(value)
    .filter(({ path, value }) => args[path] === undefined || args[path] !== value)
    .map(({ path, value }) => {
      const bare = path.replace(/\[\d+\]/g, "");
      const counts = countsAreAsked && COUNT.test(bare) ? 1 : 0;
      const relevance = wantsAll ? 1 : relevanceOf(bare, described.get(bare) ?? "", asked, lesser) + counts;
      return { path, label: labelOf(path), value, relevance };
    })
    .sort((a, b) => b.relevance - a.relevance);
}

const INTERROGATIVE = /^(?:what|which|how|when|who|whom|whose|where|why|is|are|was|were|does|do|did|can|has|have)$/i;

// Who only says what is to be done, and to what, wants all that comes of it: "measure "…"", "get_block 1".
function asksForAll({ words }: Question, { name, outputSchema }: Method): boolean {
  const [first] = words;
  if (first === undefined || words.some(({ text }) => INTERROGATIVE.test(text))) return false;
  const own = new Set(partsOf(name).map(stemOf));
  const isResult = (stem: string) =>
    outputsOf(outputSchema).some(({ path }) => partsOf(path).map(stemOf).includes(stem));
  const isNamed = [...own].every((stem) => words.some((word) => word.stem === stem));
  return isNamed && !words.some((word) => !isAsking(word) && isResult(word.stem));
}

const isMany = (text: string) => text.toLowerCase() === "many";
const COUNT = /(?:^|\.)counts?$/i;

// What a question asks for by its words. "How many" asks for the number of what follows, and not for what a tool calls its number.
export function askedIn({ words }: Question): ReadonlySet<string> {
  return new Set(
    words
      .filter(({ text }) => !isMany(text))
      .flatMap(({ stem, text }) => [stem, ...(ASKS_FOR[text.toLowerCase()] ?? []).map(stemOf)]),
  );
}

// Words that tell the results of a method apart less than others do: those by which it was found, and those that only say of what
// kind the result behind them is, as "day" in "day count fraction". A "total return" is a total, and where the method itself says
// "e-mail address" it is the address that says less.
export function lesserIn({ text, words }: Question, { name, description, outputSchema }: Method): ReadonlySet<string> {
  const results = new Set(outputsOf(outputSchema).map(({ path }) => partsOf(path).map(stemOf).join(" ")));
  const described = stemsOf(description);
  const lesser = new Set(partsOf(name).map(stemOf));
  for (const [i, { stem, text: written }] of words.entries()) {
    if (!results.has(stem) || turnsQuestion(written)) continue;
    for (let at = i + 1; isOneRun(text, words[at - 1], words[at]); at += 1) {
      const head = words[at]?.stem ?? "";
      if (head === stem || !results.has(head)) continue;
      lesser.add(described.some((one, place) => one === stem && described[place + 1] === head) ? head : stem);
    }
  }
  return lesser;
}

const isOneRun = (text: string, word: Word | undefined, next: Word | undefined) =>
  word !== undefined && next !== undefined && !isAsking(next) && /^[ -]$/.test(text.slice(word.end, next.start));

// How many of the words in a property's name are asked for, and how much of the name that is. A description counts a little.
export function relevanceOf(
  path: string,
  description: string,
  asked: ReadonlySet<string>,
  lesser: ReadonlySet<string>,
): number {
  const name = [...new Set(path.split(".").flatMap(partsOf).map(stemOf))];
  const named = name.filter((stem) => asked.has(stem));
  const weight = named.reduce((sum, stem) => sum + (lesser.has(stem) ? 0.5 : 1), 0);
  if (named.length > 0) return weight + named.length / name.length;
  const words = new Set(stemsOf(description));
  return [...words].some((stem) => stem.length > 3 && asked.has(stem)) ? 0.5 : 0;
}

export const partsOf = (name: string) =>
  name.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((part) => part !== "");

const labelOf = (path: string) =>
  path
    .split(".")
    .map((name) => partsOf(name).join(" ").toLowerCase())
    .join(", ");

// Those that are asked for: the most relevant and what comes near to it.
const NEAR = 0.8;

export function focusOf(facts: readonly ToolFact[]): readonly ToolFact[] {
  const best = facts[0]?.relevance ?? 0;
  if (best > 0) return facts.filter(({ relevance }) => relevance >= NEAR * best);
  return facts.length === 1 ? facts : [];
}

// Whether a word of the question says more exactly what is meant than the fact's name does: of a tool that knows web addresses
// and e-mail addresses, "web address" is not just any address.
export function isQualified({ label }: ToolFact, { words }: Question, { description }: Method): boolean {
  const name = new Set(label.split(/[^\p{L}\p{N}]+/u).map(stemOf));
  const described = stemsOf(description);
  return words.some(({ stem }, i) => {
    const before = words[i - 1];
    if (before === undefined || !name.has(stem) || name.has(before.stem)) return false;
    const times = described.filter((one) => one === stem).length;
    return times > 1 && described.some((one, at) => one === before.stem && described[at + 1] === stem);
  });
}

export const isTable = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRecord);
