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
  if (asksWhatItIs(question))
    return misfit(`the tool ${listing.name} does not say what something is, and what it is not`);
  const first = relevant[0] ?? { path: "" };
  if (!isNamed && filled.usedValues.size === 0)
    return misfit(`the question does not say of what it asks the ${labelOf(first)}`);
  const other = isNamed ? undefined : siblingNamed(question, listing, method);
  if (other !== undefined)
    return misfit(`the question is about what ${other} of ${listing.name} is for, which does not answer it`);
  const given = [...filled.takers].find(
    ([value, { name, kind }]) =>
      kind !== null && question.values.includes(value) && isGiven(value, name, kind, question, method),
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
  // What a method gives back of its arguments is no result: "the balance of address 0x…".
  const taken = new Set([...filled.takers.values()].map(({ name }) => name));
  const own = outputs.filter(({ path }) => !taken.has(path));
  const composed = composedIn(question, own, OF) ?? compoundIn(question, outputs, method);
  if (composed !== null)
    return misfit(
      `the tool ${listing.name} answers with ${method.name} both of “${composed}”, and not the one of the other`,
    );
  const listed = oneOfListed(question, method);
  if (listed !== null)
    return misfit(`the tool ${listing.name} lists with ${method.name}, and does not say the ${listed}`);
  if (filled.calls.length > 1 && question.words.some(({ stem }) => stem === NEWEST))
    return misfit(`the tool ${listing.name} answers of each with ${method.name}, and not which of them is the newest`);
  const wrongType = wrongTypeOf(question, method, relevant);
  if (wrongType !== null) return misfit(wrongType);
  const chosen = chosenOf(question, method, filled);
  const doubts = [
    ...(chosen === null ? [] : [`the tool does not say that there is a ${chosen}`]),
    ...(isNewestOfList(question, method) ? [`${method.name} lists them and does not say which is the newest`] : []),
    ...(isYesOrNo(question) && !saysYesOrNo(method, relevant)
      ? [`${method.name} answers ${listOf((relevant[0] ? relevant : outputs).map(labelOf))}, and neither yes nor no`]
      : []),
    ...(/\bhow long\b/i.test(question.text) && !relevant.some(({ path }) => partsOf(path).some(isLength))
      ? [`the question asks how long, and ${method.name} says neither a time nor a length`]
      : []),
    ...(question.words.some(({ text }) => /^(?:should|ought)$/i.test(text))
      ? ["a tool says what is, and not what should be"]
      : []),
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
  // "The averages of 1, 2 and 3" are made of these, and "the licence of “a/b”" is one that it has; "200 grams" are grams.
  if (["numbers", "text"].includes(kind.kind) && /^(?:of|for|over|in)$/i.test(before[0]?.text ?? "")) return false;
  if (kind.kind === "number" && after[0] !== undefined && isCalled(after[0], property)) return false;
  const next = after[0];
  const beside =
    isBound || before[0] === behind || next === undefined || !results.has(next.stem) || own.has(next.stem)
      ? behind
      : next;
  // "Convert 100 …" says what is to be done with it.
  const isOrder = beside !== undefined && beside === words[0] && own.has(beside.stem);
  return beside !== undefined && results.has(beside.stem) && !isCalled(beside, property) && !isOrder;
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
  for (const [i, { end, text: first }] of named.entries()) {
    const next = named[i + 1];
    if (next === undefined || COUNTED.test(first)) continue;
    if (link.test(text.slice(end, next.start))) return text.slice(end - first.length, next.end).replace(/\s+/g, " ");
  }
  return null;
}

const YES_OR_NO = /^(?:is|are|was|were|do|does|did|has|have|had|will|can|could|would)$/i;
const isYesOrNo = ({ words: [first, second] }: Question) =>
  YES_OR_NO.test(first?.text ?? "") && !/^(?:you|i|we|there)$/i.test(second?.text ?? "");

// "Is “hello” a word?"
const asksWhatItIs = ({ text, words: [verb, article], values: [value] }: Question) =>
  verb !== undefined &&
  value !== undefined &&
  /^(?:is|are|was|were)$/i.test(verb.text) &&
  /^an?$/i.test(article?.text ?? "") &&
  text.slice(verb.end, value.start).trim() === "" &&
  text.slice(value.end, article?.start).trim() === "";

// A flag or one of several words is as good as a yes.
const saysYesOrNo = ({ outputSchema }: Method, relevant: readonly { path: string }[]) =>
  propertiesOf(outputSchema ?? {}).some(
    ({ name, schema }) => relevant.some(({ path }) => path === name) && (schema.type === "boolean" || "enum" in schema),
  );

const COUNTED = /^(?:numbers?|counts?|amount|many|much)$/i;
const COUNTED_NUMBERS = /\b(?:many|(?:number|count|amount)\s+of)\s+(?:the\s+)?numbers\b/i;
const NEWEST = stemOf("newest");

// Words that stand together, with nothing but spaces between them.
function runsOf({ text, words }: Question): Word[][] {
  const runs: Word[][] = [];
  for (const [i, word] of words.entries()) {
    const before = words[i - 1];
    const isNext = before !== undefined && /^[ -]$/.test(text.slice(before.end, word.start));
    if (isNext && !isAsking(word)) runs.at(-1)?.push(word);
    else runs.push([word]);
  }
  return runs;
}

const namesIn = (path: string) => partsOf(path).map(stemOf);

// Two results beside each other, as in "mean deviation" and "transaction hash", are a third one, unless the tool says them so or is
// called by the second. So is one of itself, as in "average moving average", and one beside a part of another, as in "total payment" of what answers a payment and the total interest.
function compoundIn(
  question: Question,
  outputs: readonly { path: string }[],
  { name, description }: Method,
): string | null {
  const results = outputs.map(({ path }) => namesIn(path));
  const own = new Set(nounsOf(name));
  const isOwn = (stem: string) => own.has(stem) && !turnsQuestion(stem);
  for (const run of runsOf(question)) {
    const twice = run.find(({ stem }, i) => isOneOf(stem) && run.slice(0, i).some((one) => one.stem === stem));
    if (twice !== undefined) return run.map(({ text }) => text).join(" ");
    for (const [i, { stem, text }] of run.entries()) {
      const next = run[i + 1];
      if (next === undefined || isOwn(stem) || COUNTED.test(text) || COUNTED.test(next.text)) continue;
      const firsts = results.filter((names) => names.includes(stem));
      const isTwo = firsts.length > 0 && results.some((names) => names.includes(next.stem)) && next.stem !== stem;
      const isOne = results.some((names) => names.includes(stem) && names.includes(next.stem));
      const isOfIt = own.has(next.stem) && firsts.some((names) => names.length === 1);
      if (isTwo && !isOne && !isOfIt && !saysTogether(description, stem, next.stem)) return `${text} ${next.text}`;
    }
  }
  return null;
}

// "Most frequent" is one of these and no more.
const isOneOf = (stem: string) => turnsQuestion(stem) && stem !== MOST;
const MOST = stemOf("most");

export const saysTogether = (description: string, first: string, second: string) =>
  description.split(/[^\p{L}\p{N}\s-]+/u).some((part) => {
    const stems = stemsOf(part);
    return stems.some((one, at) => one === first && stems[at + 1] === second);
  });

const listsIn = ({ outputSchema }: Method) =>
  new Set(
    propertiesOf(outputSchema ?? {})
      .filter(({ schema }) => schema.type === "array")
      .flatMap(({ name }) => namesIn(name)),
  );

// Words before what a method lists, in one run with it, of which the first is one of these: "the largest return".
function listedBy(question: Question, method: Method, isFirst: (stem: string) => boolean): string | null {
  const lists = listsIn(method);
  for (const run of runsOf(question)) {
    const at = run.findIndex(({ stem }) => isFirst(stem));
    if (at !== -1 && run.slice(at + 1).some(({ stem }) => lists.has(stem))) {
      return run.map(({ text }) => text).join(" ");
    }
  }
  return null;
}

// One of them, or one number for them all, which whoever lists them does not say.
function oneOfListed(question: Question, method: Method): string | null {
  const named = propertiesOf(method.outputSchema ?? {}).flatMap(({ name }) => namesIn(name));
  const own = new Set([...nounsOf(method.name), ...named]);
  return listedBy(question, method, (stem) => ONE_OF_ALL.has(stem) && !own.has(stem));
}

const ONE_OF_ALL = new Set(["maximum", "minimum", "mean", "median", "sum"].map(stemOf));

// In which order they are listed is not known.
const isNewestOfList = (question: Question, method: Method) =>
  !stemsOf(method.description).includes(NEWEST) && listedBy(question, method, (stem) => stem === NEWEST) !== null;

// What was chosen is of what the method is called by. "Log returns" are; a "log drawdown" is nothing that the tool has said.
function chosenOf(
  question: Question,
  { name, description, inputSchema, outputSchema }: Method,
  { calls }: Calls,
): string | null {
  const own = new Set(nounsOf(name));
  const results = new Set(propertiesOf(outputSchema ?? {}).flatMap(({ name }) => namesIn(name)));
  for (const { name, kind } of propertiesOf(inputSchema)) {
    const choice = kind?.kind === "choice" ? calls[0]?.[name] : undefined;
    if (typeof choice !== "string") continue;
    const start = question.text.toLowerCase().indexOf(choice.toLowerCase());
    if (start === -1) continue;
    const end = start + choice.length;
    const next = question.words.find((word) => word.start >= end);
    const run = runsOf(question).find((run) => next !== undefined && run.includes(next));
    const head = run?.at(-1);
    if (next === undefined || head === undefined || !/^[ -]$/.test(question.text.slice(end, next.start))) continue;
    if (!results.has(head.stem) || own.has(head.stem)) continue;
    if (saysTogether(description, stemOf(choice), head.stem)) continue;
    return question.text.slice(start, head.end);
  }
  return null;
}

type Calls = { calls: readonly Readonly<Record<string, unknown>>[] };

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
function isCounted(question: Question, { outputSchema }: Method, relevant: readonly Relevant[]): boolean {
  if (countedIn(question).length === 0 && !/\b(?:number|count|amount)\s+of\s/i.test(question.text)) return false;
  const properties = propertiesOf(outputSchema ?? {});
  if (hasCount(properties.map(({ name }) => ({ path: name })))) return false;
  // The number of them is none of the numbers that it may list too, unless these are what is counted.
  const areNumbers = COUNTED_NUMBERS.test(question.text);
  const things = relevant.filter(({ path }) => areNumbers || !partsOf(path).every((part) => COUNTED.test(part)));
  return properties.some(
    ({ name, schema }) =>
      schema.type === "array" && (properties.length === 1 || (things.length === 1 && things[0]?.path === name)),
  );
}

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

const LENGTHS = new Set("length duration time second minute hour day week month year age".split(" ").map(stemOf));
const isLength = (word: string) => LENGTHS.has(stemOf(word));

const TIMES = new Set(["when", "time", "day", "date", "timestamp"].map(stemOf));

const isListed = (words: readonly Word[], name: string): boolean => {
  const names = partsOf(name).map(stemOf);
  const said = words.filter(({ text }) => !/^(?:the|all|me|of)$/i.test(text));
  return said.some(({ text }, i) => {
    const asked = said.slice(i + 1, i + 1 + names.length);
    // "What are the words" asks for them, and "what are the gas limits" for more than one.
    const isPlural =
      /^are$/i.test(text) && /^what$/i.test(said[i - 1]?.text ?? "") && /s$/i.test(asked.at(-1)?.text ?? "");
    return (
      (isPlural || /^(?:which|list|name|enumerate)$/i.test(text)) &&
      names.every((stem, at) => asked[at]?.stem === stem && !/^numbers?$/i.test(asked[at]?.text ?? ""))
    );
  });
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
