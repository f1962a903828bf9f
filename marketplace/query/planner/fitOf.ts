import type { Listing, Method } from "../../registry/listing.ts";
import { askedIn, lesserIn, partsOf, relevanceOf } from "./factsOf.ts";
import type { Filled } from "./fillArguments.ts";
import { type Kind, kindOf, propertiesOf } from "./kindOf.ts";
import { isAsking, nounsOf, outputsOf, turnsQuestion } from "./rankMethods.ts";
import type { Question, Value, Word } from "./readQuestion.ts";
import { stemOf, stemsOf } from "./stems.ts";

export type Fit = {
  // Why the method answers another question than the one that was asked; null if it may be the one.
  misfit: string | null;
  // Why that is not sure.
  doubts: readonly string[];
};

// What is asked for is held against what the method promises, before it is called and paid: words that both have may stand for
// different things.
export function fitOf(
  question: Question,
  { listing, method, filled }: { listing: Listing; method: Method; filled: Extract<Filled, { kind: "filled" }> },
): Fit {
  const outputs = outputsOf(method.outputSchema).filter(({ path }) => !path.includes("."));
  const asked = askedIn(question);
  const lesser = lesserIn(question, method);
  const relevant = outputs
    .map((output) => ({ ...output, relevance: relevanceOf(output.path, output.description, asked, lesser) }))
    .filter(({ relevance }) => relevance > 0);
  const isNamed = nounsOf(method.name).some((noun) => question.words.some(({ stem }) => stem === noun));
  if (
    relevant.length === 0 &&
    outputs.length > 1 &&
    !isNamed &&
    !(countedIn(question).length > 0 && hasCount(outputs))
  ) {
    return misfit(
      `the tool ${listing.name} answers ${listOf(outputs.map(labelOf))} with ${method.name}, and nothing that was asked for`,
    );
  }
  const first = relevant[0] ?? { path: "" };
  if (!isNamed && filled.usedValues.size === 0)
    return misfit(`the question does not say of what it asks the ${labelOf(first)}`);
  const other = isNamed ? undefined : siblingNamed(question, listing, method);
  if (other !== undefined)
    return misfit(`the question is about what ${other} of ${listing.name} is for, which does not answer it`);
  const given = [...filled.takers].find(
    ([value, { name, kind }]) => kind !== null && isGiven(value, name, kind, question, method),
  );
  if (given !== undefined) {
    const [{ start, end }, { name }] = given;
    return misfit(
      `the question gives ${question.text.slice(start, end)} as what ${method.name} would answer, and not as its ${name}`,
    );
  }
  const uncounted =
    outputs.length > 1 && !hasCount(outputs) ? countedIn(question).find((word) => !isAmong(word, outputs)) : undefined;
  if (uncounted !== undefined)
    return misfit(`the tool ${listing.name} does not say with ${method.name} how many ${uncounted.text}`);
  const composed = composedIn(question, outputs, OF);
  if (composed !== null)
    return misfit(
      `the tool ${listing.name} answers with ${method.name} both of “${composed}”, and not the one of the other`,
    );
  const wrongType = wrongTypeOf(question, method, relevant);
  if (wrongType !== null) return misfit(wrongType);
  const doubts = [
    ...(relevant.length > 0 && relevant.every(({ path }) => isPartial(path, asked, method))
      ? [`${method.name} answers ${listOf(relevant.map(labelOf))}, and the question does not say which`]
      : []),
    ...(composedIn(question, outputs, OVER) !== null
      ? ["a stroke between two results may mean that one is divided"]
      : []),
    ...(isCounted(question, method, relevant) ? [`${method.name} lists them and does not say how many they are`] : []),
  ];
  if (isNamed || isAnchored(question, method, filled)) return { misfit: null, doubts };
  const vague = `the tool ${listing.name} does not say with ${method.name} of what its ${listOf(relevant.map(labelOf))} is`;
  return relevant.every(({ path }) => partsOf(path).every(turnsQuestion))
    ? misfit(vague)
    : { misfit: null, doubts: [vague, ...doubts] };
}

const misfit = (reason: string): Fit => ({ misfit: reason, doubts: [] });

// Whether a word of the question stands in what the method says of itself or takes, and not only in what it calls its results.
function isAnchored(question: Question, method: Method, { usedWords }: { usedWords: ReadonlySet<Word> }): boolean {
  const own = new Set(
    stemsOf(
      `${method.description} ${propertiesOf(method.inputSchema)
        .map(({ name }) => name)
        .join(" ")}`,
    ),
  );
  return question.words.some((word) => !isAsking(word) && (usedWords.has(word) || own.has(word.stem)));
}

// A method of the same listing that the question names, unless it has words that only this one has.
const siblingNamed = ({ words }: Question, { methods }: Listing, method: Method): string | undefined =>
  methods.find(
    (other) =>
      other.name !== method.name &&
      isNamedBy(nounsOf(other.name), words) &&
      !words.some((word) => !isAsking(word) && says(method, word) && !says(other, word)),
  )?.name;

const says = ({ description }: Method, { stem }: Word) => stemsOf(description).includes(stem);

const isNamedBy = (nouns: readonly string[], words: readonly Word[]) =>
  nouns.length > 0 && nouns.every((noun) => words.some(({ stem }) => stem === noun));

const PREPOSITIONS = new Set("of for on in at from to by with".split(" "));
const REACH = 3;

// Whether a value stands beside the name of a result of the same form, and so may be that result: "which trade settles on Friday".
function isGiven(value: Value, property: string, kind: Kind, { words }: Question, method: Method): boolean {
  const before = words.filter(({ end }) => end <= value.start).toReversed();
  const after = words.filter(({ start }) => start >= value.end);
  const own = new Set([...stemsOf(property), ...nounsOf(method.name)]);
  const results = new Set(
    propertiesOf(method.outputSchema ?? {})
      .filter((output) => output.name !== property && isSameForm(output.kind, kind))
      .flatMap(({ name }) => partsOf(name).map(stemOf)),
  );
  const isContent = (word: Word) => !isAsking(word);
  const behind = before.slice(0, REACH).find(isContent);
  const isBound = before[0] !== undefined && PREPOSITIONS.has(before[0].text.toLowerCase());
  const next = after[0];
  const beside =
    isBound || before[0] === behind || next === undefined || !results.has(next.stem) || own.has(next.stem)
      ? behind
      : next;
  return beside !== undefined && results.has(beside.stem) && !isCalled(beside, property);
}

const isCalled = ({ stem }: Word, property: string) => stemsOf(property).includes(stem);

const NUMERIC = new Set<string>(["number", "digits"]);
const isSameForm = (one: Kind | null, other: Kind) =>
  one !== null && (one.kind === other.kind || (NUMERIC.has(one.kind) && NUMERIC.has(other.kind)));

const OF = /^\s+(?:of|per|to)\s+(?:(?:the|its|their|all|each|every)\s+)?$|^\s+[-–−×*]\s+$/i;
const OVER = /^\s*\/\s*$/;

// Two results of which one is asked for of the other: the median of the means, the hash of the transaction. Of a method that answers
// both neither is that; only how many there are is said by what lists or counts them.
function composedIn({ text, words }: Question, outputs: readonly { path: string }[], link: RegExp): string | null {
  const results = new Set(outputs.map(({ path }) => partsOf(path).map(stemOf).join(" ")));
  const named = words.filter(({ stem }) => results.has(stem));
  for (const [i, { end, stem, text: first }] of named.entries()) {
    const next = named[i + 1];
    if (next === undefined || next.stem === stem || /^(?:numbers?|counts?|amount)$/i.test(first)) continue;
    if (link.test(text.slice(end, next.start))) return text.slice(end - first.length, next.end).replace(/\s+/g, " ");
  }
  return null;
}

// What is counted: the words after "how many" and "how much", as far as they are one thing.
function countedIn({ words }: Question): Word[] {
  return words.flatMap((word, i) => {
    if (!/^(?:many|much)$/i.test(word.text)) return [];
    const rest = words.slice(i + 1);
    const end = rest.findIndex((word) => isAsking(word) && word.text.toLowerCase() !== "and");
    // The "e" of e-mail is none.
    const named = (end === -1 ? rest : rest.slice(0, end)).filter((word) => !isAsking(word) && word.text.length > 1);
    const isEnumerated = rest.slice(0, end === -1 ? undefined : end).some(({ text }) => text.toLowerCase() === "and");
    // Of "business days" the last word says what they are, of "years and days" each.
    return isEnumerated ? named : named.slice(0, 1);
  });
}

const hasCount = (outputs: readonly { path: string }[]) => outputs.some(({ path }) => /counts?$/i.test(path));
const isAmong = ({ stem }: Word, outputs: readonly { path: string; description: string }[]) =>
  outputs.some(({ path, description }) => stemsOf(`${path} ${description}`).includes(stem));

// Whether a number is asked for of what the method lists.
const isCounted = (question: Question, method: Method, relevant: readonly Relevant[]) =>
  countedIn(question).length > 0 &&
  propertiesOf(method.outputSchema ?? {}).some(
    ({ name, schema }) => schema.type === "array" && relevant[0]?.path === name && relevant.length === 1,
  );

type Relevant = { path: string; description: string; relevance: number };

// A number is no day, and a day no number.
function wrongTypeOf({ words }: Question, method: Method, relevant: readonly Relevant[]): string | null {
  const best = Math.max(...relevant.map(({ relevance }) => relevance));
  const first = relevant.filter(({ relevance }) => relevance === best).map(({ path }) => path);
  const kinds = propertiesOf(method.outputSchema ?? {}).filter(({ name }) => first.includes(name));
  const asks = (pattern: RegExp) => words.some(({ text }) => pattern.test(text));
  const isDay = (schema: unknown) => kindOf(schema)?.kind === "date";
  const isNumber = (schema: { type?: unknown }) => schema.type === "number" || schema.type === "integer";
  if (asks(/^when$/i) && !saysWhen(method)) return `the method ${method.name} does not say when`;
  const [only] = kinds;
  if (only === undefined) return null;
  if (asks(/^(?:many|much)$/i) && kinds.every(({ schema }) => isDay(schema))) {
    return `the method ${method.name} answers with a day, and a number was asked for`;
  }
  if (asks(/^when$/i) && kinds.every(({ schema }) => isNumber(schema))) {
    return `the method ${method.name} answers with a number, and a time was asked for`;
  }
  // "Which days" asks for them, and not for how many they are.
  return kinds.every(({ schema, name }) => isNumber(schema) && isListed(words, name))
    ? `the method ${method.name} says how many there are, and they themselves were asked for`
    : null;
}

// A day or a time is told by its form or its name, or the method says in words that it answers one.
const saysWhen = ({ description, outputSchema }: Method) =>
  propertiesOf(outputSchema ?? {}).some(({ kind }) => kind?.kind === "date" || kind?.kind === "dates") ||
  [description, ...outputsOf(outputSchema).map(({ path, description }) => `${path} ${description}`)].some((text) =>
    stemsOf(text).some((stem) => TIMES.has(stem)),
  );

const TIMES = new Set(["when", "time", "day", "date", "timestamp"].map(stemOf));

const isListed = (words: readonly Word[], name: string): boolean => {
  const names = partsOf(name).map(stemOf);
  return words.some(
    ({ text }, i) =>
      /^(?:which|list)$/i.test(text) &&
      names.every((stem, at) => words[i + 1 + at]?.stem === stem && !/^numbers?$/i.test(words[i + 1 + at]?.text ?? "")),
  );
};

// Names that have more than what the question says, which is no more than what all results of the method have in common.
function isPartial(path: string, asked: ReadonlySet<string>, method: Method): boolean {
  const names = partsOf(path).map(stemOf);
  const common = new Set(nounsOf(method.name));
  const said = names.filter((stem) => asked.has(stem));
  return said.length < names.length && said.every((stem) => common.has(stem) || turnsQuestion(stem));
}

const labelOf = ({ path }: { path: string }) => partsOf(path).join(" ").toLowerCase();
const MAX_LISTED = 6;
const listOf = (names: readonly string[]) =>
  names
    .slice(0, MAX_LISTED)
    .map((name) => name.slice(0, 100))
    .join(", ");
