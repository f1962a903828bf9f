import type { Method } from "../../registry/listing.ts";
import { isRecord } from "./kindOf.ts";
import { ASKS_FOR, outputsOf } from "./rankMethods.ts";
import type { Question } from "./readQuestion.ts";
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
  const named = new Set(partsOf(method.name).map(stemOf));
  const countsAreAsked = question.words.some(({ text }) => isMany(text));
  const described = new Map(outputsOf(method.outputSchema).map(({ path, description }) => [path, description]));
  return flatten(value)
    .filter(({ path, value }) => args[path] === undefined || args[path] !== value)
    .map(({ path, value }) => {
      const bare = path.replace(/\[\d+\]/g, "");
      const counts = countsAreAsked && COUNT.test(bare) ? 1 : 0;
      const relevance = relevanceOf(bare, described.get(bare) ?? "", asked, named) + counts;
      return { path, label: labelOf(path), value, relevance };
    })
    .sort((a, b) => b.relevance - a.relevance);
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

// How many of the words in a property's name are asked for, and how much of the name that is. A word by which the method was
// found tells its properties apart less. A description counts a little.
export function relevanceOf(
  path: string,
  description: string,
  asked: ReadonlySet<string>,
  ofMethod: ReadonlySet<string>,
): number {
  const name = [...new Set(path.split(".").flatMap(partsOf).map(stemOf))];
  const named = name.filter((stem) => asked.has(stem));
  const weight = named.reduce((sum, stem) => sum + (ofMethod.has(stem) ? 0.5 : 1), 0);
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
