import type { Found } from "../../discovery/createCatalogue.ts";
import type { Listing, Method } from "../../registry/listing.ts";
import { type Filled, fillArguments } from "./fillArguments.ts";
import { isRecord, propertiesOf } from "./kindOf.ts";
import type { Question, Value, Word } from "./readQuestion.ts";
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
const ASKING = stemSet(
  "a about account all also an and any are as at be been between by can chart contain could did do does draw during each find following for from get give given go goes graph had happen happens has have here how i if in into include is it its know let lie list long look make me much my need newest of on or our out over please plot question result s series show should some take tell text that the their them there these they this those through to until up us use value want was we well were what when which while will with would you your",
);

// What is done with a question, or to what it names, and says no more than that it is asked. A tool that has such a word may mean
// something by it.
const NEUTRAL = stemSet(
  "ask check compute calculate determine got mentioned pull execute made done using via tool kindly hi hello hey thanks thank just exactly actually simply wonder curious help someone somebody anyone anybody following grab main",
);

// Words that turn what is asked into something else: its opposite, its neighbour, a part of it. A tool that has one somewhere in its
// prose may use it in another sense.
const TURNING = stemSet(
  "zero hundred thousand million billion dozen not no non nor neither never none without except excluding exclude excluded besides ignore ignoring remove omit discard but other another more less fewer than above below under exceed before after since first second third fourth fifth last next previous earlier later left remaining both only unique distinct different together combined inclusive included instead ever always monday tuesday wednesday thursday friday saturday sunday weekend weekday",
);

// Words for what is computed from an answer: a tool that does not say that it computes it does not.
const COMPUTING = stemSet(
  "sum total product difference ratio per percent percentage twice double half triple times plus minus square root rounded absolute relative cumulative maximum minimum mean median most equal same",
);

// What question words ask for beside what the others say, by the names that tools have for it.
export const ASKS_FOR: Readonly<Record<string, readonly string[]>> = {
  when: ["time", "date", "day"],
  who: ["owner", "name"],
  where: ["place", "address"],
};

// What asks for a reason, a person or a place, which no number is.
const REASONS = stemSet("why who whom whose where");

function stemSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" ").map(stemOf));
}

const WEIGHTS = { name: 4, output: 3, inner: 2, description: 2, input: 1, listing: 1 } as const;

type Vocabulary = {
  // Everything that a method says of itself, each word with the weight of the best place in which it stands.
  words: ReadonlyMap<string, number>;
  // What it calls itself, and what it calls what it takes and answers.
  named: ReadonlySet<string>;
  // What it says in sentences.
  described: ReadonlySet<string>;
  // What has a form of its own is called by it, whatever the tool calls it.
  forms: ReadonlySet<string>;
  // What it says in sentences of each of its arguments.
  hints: ReadonlyMap<string, ReadonlySet<string>>;
};

const vocabularies = new WeakMap<Method, Vocabulary>();

function vocabularyOf(method: Method): Vocabulary {
  const known = vocabularies.get(method);
  if (known !== undefined) return known;
  const words = new Map<string, number>();
  const named = new Set<string>();
  const described = new Set<string>();
  const forms = new Set<string>();
  const hints = new Map<string, ReadonlySet<string>>();
  const add = (text: string, weight: number, to?: Set<string>) => {
    for (const stem of stemsOf(text)) {
      words.set(stem, Math.max(weight, words.get(stem) ?? 0));
      to?.add(stem);
    }
  };
  const describe = (text: string, weight: number) => {
    add(text, weight);
    for (const stem of stemsOf(text.replace(LEFT_OUT, " "))) described.add(stem);
  };
  add(method.name, WEIGHTS.name, named);
  describe(method.description, WEIGHTS.description);
  for (const { name, description, kind } of propertiesOf(method.inputSchema)) {
    add(name, WEIGHTS.input, named);
    if (kind !== null) add(NAMES[kind.kind] ?? "", WEIGHTS.input, forms);
    const hint = new Set<string>();
    add(description, WEIGHTS.input, hint);
    hints.set(name, hint);
    if (kind?.kind === "choice") for (const choice of kind.choices.slice(0, 50)) add(choice, WEIGHTS.input);
  }
  for (const { path, description } of outputsOf(method.outputSchema)) {
    const weight = path.includes(".") ? WEIGHTS.inner : WEIGHTS.output;
    add(path, weight, named);
    describe(description, weight);
  }
  const vocabulary = { words, named, described, forms, hints };
  vocabularies.set(method, vocabulary);
  return vocabulary;
}

// What the values of a method are called for their form alone.
export const formsOf = (method: Method): ReadonlySet<string> => vocabularyOf(method).forms;

// "Without the common ones": what a tool says that it does not answer.
const LEFT_OUT = /(?<=\b(?:without|except|excluding|not|no|never))\b[^,.;:]*/gi;

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
const MAX_CHOICES = 20;
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
      const description = isRecord(inner) ? [inner.description, ...choicesOf(inner)].filter(isText).join(" ") : "";
      return [{ path, description }, ...outputsOf(inner, path, depth + 1)];
    })
    .slice(0, MAX_OUTPUTS);
}

const isText = (value: unknown): value is string => typeof value === "string";
// Which values it can have says what it is about.
const choicesOf = ({ enum: choices }: { enum?: unknown }): readonly unknown[] =>
  Array.isArray(choices) ? choices.slice(0, MAX_CHOICES) : [];

// All methods that could answer, best first, equals in the order in which they were found: by the words that they share with the
// question, the rarer among the methods the more; then those that take more of what the question gives.
export function rankMethods(found: readonly Found[], question: Question, earlier: readonly Value[] = []): Ranked[] {
  const asked = new Map(question.words.filter(asksFor).map((word) => [word.stem, word]));
  const methods = found.flatMap(({ listing, methods }) => methods.map((method) => ({ listing, method })));
  const names = new Map(found.map(({ listing }) => [listing, wordsOfName(listing, question)]));
  const frequency = new Map<string, number>();
  for (const { method } of methods) {
    const { words } = vocabularyOf(method);
    for (const stem of asked.keys()) if (words.has(stem)) frequency.set(stem, (frequency.get(stem) ?? 0) + 1);
  }
  return methods
    .map(({ listing, method }): Ranked => {
      const filled = fillArguments(method, question, earlier);
      const { words } = vocabularyOf(method);
      const about = new Set(stemsOf(`${listing.name} ${listing.description} ${listing.category ?? ""}`));
      let score = 0;
      const unexplained: string[] = [];
      const loosely: string[] = [];
      const name = names.get(listing);
      const naming = namingIn(question, filled);
      let count = 0;
      let foreign = 0;
      for (const [stem, word] of asked) {
        const weight = words.get(stem) ?? (about.has(stem) ? WEIGHTS.listing : 0);
        if (weight > 0) score += weight * Math.log(1 + methods.length / (frequency.get(stem) ?? methods.length));
        if (name?.has(word)) continue;
        const explained = explains(word, { question, listing, method, filled, about });
        if (explained === "not" && NEUTRAL.has(stem)) continue;
        // It is a doubt, and no part of what is asked.
        const isNaming = explained === "not" && naming.has(word);
        if (explained === "not") unexplained.push(word.text);
        if (isNaming) continue;
        count += 1;
        if (explained === "not") foreign += 1;
        if (explained === "loosely") loosely.push(word.text);
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
        coverage: coverageOf(count, foreign, question.values.length, unusedValues.length),
        unusedValues,
        filled,
      };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

// What the values are called that a method takes: "of sales 10, 12 and 14", "in this note: “…”", "our weekly signups were 31, 28". Whoever
// says what the numbers are of asks for no more than whoever does not.
function namingIn({ text, words, values }: Question, filled: Filled): ReadonlySet<Word> {
  const naming = new Set<Word>();
  if (filled.kind !== "filled") return naming;
  const used = values.filter((value) => filled.usedValues.has(value)).slice(0, MAX_NAMED);
  for (const { kind, start: at } of used) {
    const before = NAMEABLE.has(kind) ? text.slice(Math.max(0, at - MAX_PHRASE_LENGTH), at) : "";
    const [, phrase] = NAMED_BY.exec(before) ?? SAID_TO_BE.exec(before) ?? [];
    if (phrase === undefined) continue;
    const start = at - before.length + before.lastIndexOf(phrase);
    for (const word of words) {
      const isInside = word.start >= start && word.end <= start + phrase.length;
      if (isInside && !isAsking(word) && !turnsQuestion(word.text)) naming.add(word);
    }
  }
  // "A 4-week average": of what so many are.
  for (const { end } of used.filter(({ kind }) => kind === "number")) {
    const unit = words.find(({ start }) => start === end + 1);
    if (unit !== undefined && text[end] === "-" && !isAsking(unit) && !turnsQuestion(unit.text)) naming.add(unit);
  }
  return naming;
}

// Whoever names more of them, or in more words, is understood without.
const MAX_NAMED = 20;
const MAX_PHRASE_LENGTH = 100;
const NAMEABLE: ReadonlySet<string> = new Set(["numbers", "number", "text"]);
const NOUN = "(?!(?:of|for|in|on|at|to|by|from|with|and|or)\\b)\\p{L}+";
const NOUNS = `(${NOUN}(?: ${NOUN})?)`;
const NAMED_BY = new RegExp(
  `\\b(?:of|for|in|over|among) (?:(?:my|our|your|the|this|these|those) )?(?:following )?${NOUNS}\\s*[:=]?\\s*$`,
  "iu",
);
const SAID_TO_BE = new RegExp(
  `(?:^|[.;,]\\s*)(?:my|our|the|these|those) ${NOUNS} (?:is|are|was|were)\\s*:?\\s*$`,
  "iu",
);

// Of a word that asks: "many" means a number, and of the number itself something is asked.
export const isAsking = ({ stem, text }: Word): boolean => ASKING.has(stem) || text.toLowerCase() === "many";

const MANNERS = /^(?:do|does|did|is|are|was|were|can|could|should|would|will|to)$/i;

// "How many" and "how alike" ask for what follows; "how does it" asks for a manner, which is nothing that a tool answers, and "how mean"
// is none of its numbers. "What does it mean" asks what it says to people.
function asksFor(word: Word, i: number, words: readonly Word[]): boolean {
  const next = words[i + 1];
  if (/^how$/i.test(word.text)) return MANNERS.test(next?.text ?? "") || (next !== undefined && isComputed(next));
  if (/^(?:do|does|did)$/i.test(word.text)) return isVerb(words.at(-1), words.at(-2));
  if (
    DEGREES.test(word.text) &&
    /^how$/i.test(words[i - 1]?.text ?? "") &&
    /^(?:is|are|was|were)$/i.test(next?.text ?? "")
  )
    return false;
  if (FREQUENT.test(word.text) && words[i - 1]?.text.toLowerCase() === "most") return false;
  return !isAsking(word);
}

const isComputed = ({ stem, text }: Word) => COMPUTING.has(stem) && !isAsking({ stem, text } as Word);
const isVerb = (last?: Word, before?: Word) =>
  /^means?$/i.test(last?.text ?? "") && !/^(?:an?|the|as|its|their|which|what|whose)$/i.test(before?.text ?? "");
// "How bad was the drawdown" asks for it; how long or how old it was is something else.
const DEGREES = /^(?:bad|big|large|small|deep|high|low|great|strong|severe|steep|good)$/i;
// "Most common" is no more than most.
const FREQUENT = /^(?:common|commonly|often|frequent|frequently)$/i;

// Words of a part of the question that nothing about a method explains.
export function strangeTo(part: Question, { listing, method, filled }: Ranked): string[] {
  const about = new Set<string>();
  return part.words
    .filter(asksFor)
    .filter((word) => !NEUTRAL.has(word.stem))
    .filter((word) => explains(word, { question: part, listing, method, filled, about }) === "not")
    .map(({ text }) => text);
}

type About = { question: Question; listing: Listing; method: Method; filled: Filled; about: ReadonlySet<string> };

// Whether what a method says of itself is what a word of the question means; loosely if that is only likely.
function explains(word: Word, { question, listing, method, filled, about }: About): "well" | "loosely" | "not" {
  const { stem } = word;
  const { named, described, forms, hints } = vocabularyOf(method);
  if (filled.kind === "filled" && filled.usedWords.has(word)) return "well";
  if (REASONS.has(stem)) {
    const isNamed = (ASKS_FOR[word.text.toLowerCase()] ?? []).some((name) => named.has(stemOf(name)));
    return isNamed || saysSo(word, question, method) ? "well" : "not";
  }
  // What is counted is none of the numbers that it takes, and a part of a text is not the text.
  const isForm = forms.has(stem) && !/^(?:counts?|amount)$/i.test(word.text) && !isPartOfText(word, question);
  if (named.has(stem) || isForm || isNumberOf(word, question, named)) return "well";
  if (described.has(stem)) return TURNING.has(stem) ? "loosely" : "well";
  if (isOperator(stem, word.text)) return "not";
  // What an argument says of itself is about the question if that gives it.
  const given = filled.kind === "filled" ? [...filled.takers.values()] : [];
  if (given.some(({ name }) => hints.get(name)?.has(stem))) return "loosely";
  // What another method of the listing is called by is for that one to answer.
  const isOthers = listing.methods.some((other) => other.name !== method.name && nounsOf(other.name).includes(stem));
  return about.has(stem) && !isOthers ? "loosely" : "not";
}

// "The block number" is the block, if that is what a tool calls it.
function isNumberOf({ text: word, start }: Word, { text, words }: Question, named: ReadonlySet<string>): boolean {
  if (!/^number$/i.test(word)) return false;
  const before = words.find(({ end }) => end <= start && /^ $/.test(text.slice(end, start)));
  return before !== undefined && named.has(before.stem);
}

// "Which sentence in “…”", and not "the sentence “…”".
function isPartOfText({ text: word, end }: Word, { text, values }: Question): boolean {
  if (!/^(?:words?|sentences?|phrases?)$/i.test(word)) return false;
  const next = values.find(({ kind, start }) => kind === "text" && start >= end);
  return next !== undefined && /\b(?:in|of|from|within)\b/i.test(text.slice(end, next.start));
}

// A tool that answers "who sent it" says so in these words.
function saysSo(word: Word, { words }: Question, { description }: Method): boolean {
  const next = words[words.indexOf(word) + 1];
  if (next === undefined || isAsking(next)) return false;
  const described = stemsOf(description);
  return described.some((stem, i) => stem === word.stem && described[i + 1] === next.stem);
}

const CALLS = /\b(?:use|using|ask|asking|with|via|from|by|through)\s+(?:the\s+)?(?:tool\s+|listing\s+)?["“«']?$/i;

// Where a question says which tool it is for: "ask Text facts …", "with the tool Text facts, …", "Text facts: …". What turns a
// question is no name.
function wordsOfName({ name }: Listing, { text, words }: Question): ReadonlySet<Word> {
  const start = name.trim() === "" ? -1 : text.toLowerCase().indexOf(name.trim().toLowerCase());
  const end = start + name.trim().length;
  const isCalled =
    start !== -1 &&
    !/^[\p{L}\p{N}]/u.test(text.slice(end)) &&
    (CALLS.test(text.slice(0, start)) || (/^\s*:/.test(text.slice(end)) && text.slice(0, start).trim() === ""));
  return new Set(
    isCalled ? words.filter((word) => word.start >= start && word.end <= end && !isOperator(word.stem, word.text)) : [],
  );
}

// A note is no "not": what is short is compared as it is written.
const LEAST_STEM = 4;
const isOperator = (stem: string, text: string) =>
  (stem.length >= LEAST_STEM || text.toLowerCase() === stem || COMPUTING.has(stem)) &&
  (TURNING.has(stem) || COMPUTING.has(stem) || REASONS.has(stem));

// Words that make another question of one, so that without them it is not answered at all.
export const turnsQuestion = (word: string): boolean => isOperator(stemOf(word), word) || !/[\p{L}\p{N}]/u.test(word);

// Values that are used make up for no word that is not understood.
function coverageOf(words: number, unexplained: number, values: number, unused: number): number {
  if (words === 0) return 0;
  return Math.min(1 - unexplained / words, 1 - (unexplained + unused) / (words + values));
}

const VERBS = stemSet("get list fetch find read search show compute calculate count");

// What a method's name says that it is about.
export const nounsOf = (name: string): string[] =>
  name
    .split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u)
    .map(stemOf)
    .filter((stem) => stem !== "" && !VERBS.has(stem));

// A name of which the question has one word and not the other is of something more particular: a moving average is no average.
function likenessOf({ name }: Method, { words }: Question): number {
  const parts = nounsOf(name);
  const asked = new Set(words.map(({ stem }) => stem));
  const named = parts.filter((stem) => asked.has(stem)).length;
  return named === 0 ? 1 : 0.25 + (0.75 * named) / parts.length;
}
