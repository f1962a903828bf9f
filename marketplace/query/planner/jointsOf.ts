import type { Method } from "../../registry/listing.ts";
import { partsOf } from "./factsOf.ts";
import type { Filled } from "./fillArguments.ts";
import { saysTogether } from "./fitOf.ts";
import { type Property, propertiesOf } from "./kindOf.ts";
import { formsOf, isAsking, nounsOf, outputsOf, turnsQuestion } from "./rankMethods.ts";
import type { Question, Word } from "./readQuestion.ts";
import { stemOf, stemsOf } from "./stems.ts";

type Filling = { method: Method; filled: Extract<Filled, { kind: "filled" }> };

// Every word of a question may be understood, and what stands between them still make another one of it: a sign, a word that sets one
// result against another, a value that is no further one of a list. Nobody has a list of all that could. So whoever is to be sure
// knows what joins the parts, and everything else is a doubt.
export function jointsOf(question: Question, filling: Filling): string[] {
  const named = mentionsIn(question, filling);
  return [
    ...strangeSigns(question, filling),
    ...resultsJoined(question, named),
    ...valuesJoined(question, filling),
    ...listsJoined(question, filling),
    ...pairsJoined(question, filling),
    ...endsTaken(question, filling),
    ...amountsOf(question, filling),
    ...countsTaken(question, filling),
    ...namesInResults(question, filling, named),
    ...wordsBefore(question, filling, named),
    ...computedOf(question, filling, named),
    ...partsMeant(question),
    ...choicesOf(question, filling, named),
    ...namedAndNotGiven(question, filling, named),
    ...(named.length > 0 || isAnchored(question, filling)
      ? []
      : [`the question has nothing but values for ${filling.method.name}, and no word of what it is about`]),
  ];
}

const shownIn = (text: string) => `“${text.replace(/\s+/g, " ").trim().slice(0, 100)}”`;

// What people write around words: pauses, brackets, quotes, the sign of a number, and pictures.
const PLAIN = /[\p{L}\p{N}\p{M}\s.,;?!'"’‘“”„«»()[\]\-–—&…#]|\p{Extended_Pictographic}|\u200d|\ufe0f/u;

function strangeSigns({ text, words, values }: Question, { filled: { calls } }: Filling): string[] {
  const starts = [...words, ...values].map(({ start }) => start);
  let rest = text;
  const blank = (start: number, length: number) => {
    rest = rest.slice(0, start) + " ".repeat(length) + rest.slice(start + length);
  };
  for (const { start, end } of values) blank(start, end - start);
  // What was chosen stands in it as its tool writes it.
  for (const value of new Set(Object.values(calls[0] ?? {}))) {
    const at = typeof value === "string" && value !== "" ? rest.toLowerCase().indexOf(value.toLowerCase()) : -1;
    if (at !== -1) blank(at, String(value).length);
  }
  const outside = rest.slice(Math.min(...starts)).replace(/:(?=\s|["“«]|$)/g, " ");
  // "1, 2, 3 …" goes on.
  const open = values.some(({ kind, end }) => kind.startsWith("number") && /^[\s,]*(?:…|\.{2,})/.test(text.slice(end)));
  const strange = [...(open ? ["…"] : []), ...new Set([...outside].filter((character) => !PLAIN.test(character)))];
  return strange.length === 0 ? [] : [`nobody says what ${strange.slice(0, 5).join(" ")} means here`];
}

type Mention = { start: number; end: number; path: string };

// Where a question names results of a method, the longest name first. What it gives back of its arguments is none.
function mentionsIn({ text, words }: Question, { method, filled }: Filling): Mention[] {
  const taken = new Set([...filled.takers.values()].map(({ name }) => name));
  const names = outputsOf(method.outputSchema)
    .filter(({ path }) => !path.includes(".") && !taken.has(path))
    .map(({ path }) => ({ path, stems: partsOf(path).map(stemOf) }))
    .sort((a, b) => b.stems.length - a.stems.length);
  const mentions: Mention[] = [];
  for (let i = 0; i < words.length; i += 1) {
    const first = words[i];
    if (first === undefined || isAsking(first)) continue;
    const name = names.find(({ stems }) => stems.every((stem, at) => isNext(text, words, i + at, at) === stem));
    if (name === undefined) continue;
    const last = words[i + name.stems.length - 1] ?? first;
    mentions.push({ start: first.start, end: last.end, path: name.path });
    i += name.stems.length - 1;
  }
  return mentions;
}

// The stem of a word that stands beside the one before it.
function isNext(text: string, words: readonly Word[], i: number, at: number): string | undefined {
  const [word, before] = [words[i], words[i - 1]];
  if (word === undefined) return undefined;
  return at === 0 || (before !== undefined && /^[ -]$/.test(text.slice(before.end, word.start)))
    ? word.stem
    : undefined;
}

const LINK = /[,;&.?!]|\b(?:and|or)\b/i;
const SETTING = /\b(?:of|in|on|at|to|by|with|from|for|over|per|into|as|than|through|until|against|versus|vs)\b/i;
const COUNTED = /^\s+of\b/i;

// Two results are enumerated, or one of them is set against the other: "usdc in native", "gas used of the gas limit".
function resultsJoined({ text, words, values }: Question, mentions: readonly Mention[]): string[] {
  const doubts: string[] = [];
  for (const [i, { start, end }] of mentions.entries()) {
    const before = mentions[i - 1];
    if (before === undefined) continue;
    const between = text.slice(before.end, start);
    // "The number of transactions" is what there is of these.
    const isCount =
      /^(?:numbers?|counts?|amount)$/i.test(text.slice(before.start, before.end)) && COUNTED.test(between);
    const hasValue = values.some((value) => value.start >= before.end && value.end <= start);
    const others = words.filter((word) => word.start >= before.end && word.end <= start && !isAsking(word));
    const isSet = /\b(?:in|into|as|per|than|over|against|versus|vs|of)\s+(?:the\s+|its\s+|their\s+)?$/i.test(between);
    const isListed = LINK.test(between) && !SETTING.test(between);
    const isBeside = between.trim() === "" || between === "-";
    if (isCount || isBeside || (!isSet && (hasValue || isListed || isElsewhere(between, others)))) continue;
    doubts.push(`${shownIn(text.slice(before.start, end))} may be one of the two set against the other`);
  }
  return doubts;
}

// Another sentence, or words of its own that are understood as such, with nothing that hangs the second on the first.
const isElsewhere = (between: string, others: readonly Word[]) =>
  /[.?!;]\s/.test(between) || (others.length > 0 && !/^\s+(?:of|per|over|in|to|as)\b/i.test(between));

// Values that one argument takes several of, or that are as many calls, stand in a list: with nothing between them but what joins one, or
// what stood before the first again.
function valuesJoined({ text, values, words }: Question, { filled }: Filling): string[] {
  const taken = Map.groupBy(
    [...filled.takers].filter(([value]) => values.includes(value)),
    ([, { name }]) => name,
  );
  return [...taken.values()].flatMap((some) => {
    const own = some.map(([value]) => value).sort((a, b) => a.start - b.start);
    const [first] = own;
    if (first === undefined) return [];
    const leading = words.filter(({ end }) => end <= first.start).slice(-REPEATED);
    const repeated = new Set(["and", "or", "the", ...leading.map((word) => word.text.toLowerCase())]);
    return own.flatMap((value, i) => {
      const before = own[i - 1];
      if (before === undefined || isList(text.slice(before.end, value.start), repeated)) return [];
      return [`${shownIn(text.slice(before.start, value.end))} may be something else than a list`];
    });
  });
}

const REPEATED = 3;
const isList = (between: string, repeated: ReadonlySet<string>) =>
  !/[,;&]\s*[,;&]/.test(between) &&
  between.split(/[\s,;&]+/).every((word) => word === "" || repeated.has(word.toLowerCase()));

// "The mean of ten, 2, 3": what stands in a list with the numbers of another argument may be one of them. "Of 3 values 1, 2, 3" says how
// many they are.
function listsJoined({ text, words, values }: Question, { filled: { takers } }: Filling): string[] {
  const taken = values.flatMap((value) => {
    const property = takers.get(value);
    return property === undefined ? [] : [{ ...value, property }];
  });
  return taken
    .sort((a, b) => a.start - b.start)
    .flatMap(({ property, start, end }, i, all) => {
      const before = all[i - 1];
      if (before === undefined) return [];
      const between = text.slice(before.end, start);
      if (!isList(between, AND_OR) && !NUMBERED.test(between)) return [];
      const kinds = [before.property, property].map(({ kind }) => kind?.kind);
      if (!kinds.includes("number") || !kinds.includes("numbers")) return [];
      // "With window 2: 1, 2, 3".
      const naming = words.findLast((word) => word.end <= before.start);
      const isNamed =
        kinds[0] === "number" &&
        naming !== undefined &&
        partsOf(before.property.name).map(stemOf).includes(naming.stem) &&
        text.slice(naming.end, before.start).trim() === "";
      return isNamed ? [] : [`${shownIn(text.slice(before.start, end))} may be one list`];
    });
}

const NUMBERED = /^\s+\p{L}+s\s*:?\s*$/u;
const AND_OR: ReadonlySet<string> = new Set(["and", "or"]);

// Of three that two arguments take a pair of, nobody says which pairs are meant.
function pairsJoined({ values }: Question, { filled: { calls, takers } }: Filling): string[] {
  if (calls.length < 2) return [];
  const given = [...takers].filter(([value]) => values.includes(value)).map(([, property]) => property);
  const isVaried = ({ name }: Property) => calls.some((call) => call[name] !== calls[0]?.[name]);
  const varied = given.find(isVaried);
  const fixed = given.find((property) => !isVaried(property) && property.kind?.kind === varied?.kind?.kind);
  return fixed === undefined || varied === undefined
    ? []
    : [`which ${fixed.name} belongs to which ${varied.name} is not said`];
}

const END = /\b(?:until|till|through|thru|up\s+to)\b/gi;
const SIDES = new Set("from to between until till since start end begin".split(" "));
const isSide = ({ name }: Property) => partsOf(name).some((part) => SIDES.has(part.toLowerCase()));

// "The gas used until block 7" is not that of block 7. An end is what an argument takes that is one of two sides.
function endsTaken({ text, values }: Question, { filled: { takers } }: Filling): string[] {
  const ordered = values.toSorted((a, b) => a.start - b.start);
  return [...text.matchAll(END)].flatMap(({ 0: word, index }) => {
    if (ordered.some(({ start, end }) => index >= start && index < end)) return [];
    const next = ordered.find(({ start }) => start > index);
    if (next === undefined) return /^th/i.test(word) ? [] : [`nobody says what there is “${word}” here`];
    const [before, taker] = [ordered[ordered.indexOf(next) - 1], takers.get(next)];
    if (taker === undefined || isSide(taker)) return [];
    const isSpan =
      before !== undefined &&
      taker.kind?.kind === "date" &&
      takers.get(before)?.kind?.kind === "date" &&
      text.slice(before.end, next.start).trim() === word;
    return isSpan ? [] : [`${shownIn(text.slice(index, next.end))} may be an end, and was taken for ${taker.name}`];
  });
}

const TARGETS = new Set("to into target destination".split(" "));

// "EUR to 100 USD": what stands by an amount is what that is of, and not what it becomes.
function amountsOf({ text, values }: Question, { method, filled: { calls, takers } }: Filling): string[] {
  const amounts = values.filter((value) => value.kind === "number" && takers.has(value));
  return propertiesOf(method.inputSchema).flatMap(({ name, kind }) => {
    const choice = calls[0]?.[name];
    const isTarget = kind?.kind === "choice" && partsOf(name).some((part) => TARGETS.has(part.toLowerCase()));
    if (!isTarget || typeof choice !== "string") return [];
    const written = choice.toLowerCase();
    const amount = amounts.find(({ end }) => {
      const after = text.slice(end, end + 1 + written.length).toLowerCase();
      return after.startsWith(written) || after === ` ${written}`;
    });
    return amount === undefined
      ? []
      : [`${text.slice(amount.start, amount.end)} may be of ${choice}, which was taken for ${name}`];
  });
}

const NEWEST = stemOf("newest");

// "The newest 5 blocks" are five, and not the fifth; "for each" is not for all of them together.
function countsTaken({ text, words, values }: Question, { filled: { calls, takers } }: Filling): string[] {
  const isOne = calls.length === 1;
  const each = isOne ? words.find((word) => /^(?:each|respectively)$/i.test(word.text)) : undefined;
  const isNewest = words.some(({ stem }) => stem === NEWEST);
  const counts = [...takers].filter(([value, property]) => {
    if (!values.includes(value) || !["number", "digits"].includes(property.kind?.kind ?? "")) return false;
    const isCount = /\bhow many\b/i.test(property.description) || /[^s]s$/i.test(property.name);
    const next = words.find(({ start }) => start >= value.end);
    const isBeside = next !== undefined && /^[ -]$/.test(text.slice(value.end, next.start));
    const isMany = isBeside && /[^s]s$/i.test(next.text) && !partsOf(property.name).map(stemOf).includes(next.stem);
    return !isCount && (isMany || isNewest);
  });
  return [
    ...(each === undefined ? [] : [`${each.text} of them is asked about, and they are answered together`]),
    ...counts.map(
      ([value, { name }]) => `${text.slice(value.start, value.end)} may be how many, and was taken for ${name}`,
    ),
  ];
}

// "Only in b" is what a result is called, of which no part says what a value is.
function namesInResults({ text, words }: Question, { filled }: Filling, mentions: readonly Mention[]): string[] {
  return mentions.flatMap(({ start, end }) => {
    const inside = words.filter((word) => word.start >= start && word.end <= end);
    const isNaming = inside.length > 1 && inside.some((word) => filled.usedWords.has(word));
    return isNaming ? [`a part of ${shownIn(text.slice(start, end))} was taken for the name of a value`] : [];
  });
}

// "Sample mean": a word before a result that the method says of another one says something else of this.
function wordsBefore({ text, words }: Question, { method, filled }: Filling, mentions: readonly Mention[]): string[] {
  const { name, description, inputSchema, outputSchema } = method;
  const names = [
    ...propertiesOf(inputSchema).map((one) => one.name),
    ...outputsOf(outputSchema).map(({ path }) => path),
  ];
  const own = new Set([...nounsOf(name), ...names.flatMap((one) => partsOf(one).map(stemOf))]);
  const doubts: string[] = [];
  for (const { start, end } of mentions) {
    for (let at = words.findIndex((word) => word.start === start); at > 0; at -= 1) {
      const [before, next] = [words[at - 1], words[at]];
      if (before === undefined || next === undefined || !/^[ -]$/.test(text.slice(before.end, next.start))) break;
      const { stem } = before;
      const isOther = mentions.some((one) => before.start >= one.start && before.end <= one.end);
      if (isOther || isAsking(before) || own.has(stem) || filled.usedWords.has(before) || turnsQuestion(before.text))
        break;
      if (!stemsOf(description).includes(stem) || saysTogether(description, stem, next.stem)) continue;
      doubts.push(`the tool does not say that there is ${shownIn(text.slice(before.start, end))}`);
      break;
    }
  }
  return doubts;
}

// "The total of the orders" is computed from what a tool lists, though each of them has a total of its own.
function computedOf({ text, words }: Question, { method }: Filling, mentions: readonly Mention[]): string[] {
  const lists = new Set(
    propertiesOf(method.outputSchema ?? {}).flatMap(({ name, schema }) => (schema.type === "array" ? name : [])),
  );
  return mentions.flatMap(({ start, end, path }) => {
    const before = words.findLast((word) => word.end <= start && turnsQuestion(word.text));
    const isOf =
      before !== undefined && /^\s+of\s+(?:(?:the|all|its|their|my)\s+)*$/i.test(text.slice(before.end, start));
    if (before === undefined || !isOf || !lists.has(path)) return [];
    return [`${shownIn(text.slice(before.start, end))} is nothing that ${method.name} says, but what it lists`];
  });
}

const PART = /\S\s+that\s+(?:is|are|was|were|has|have|do|does)\b/i;

// "Sentences that are questions" are not all of them.
function partsMeant({ text, values }: Question): string[] {
  const outside = values.reduce(
    (rest, { start, end }) => rest.slice(0, start) + "0".repeat(end - start) + rest.slice(end),
    text,
  );
  const at = PART.exec(outside)?.index;
  return at === undefined ? [] : [`${shownIn(text.slice(at + 1))} may leave out a part`];
}

// "The log of the returns" is none of the returns that are chosen so.
function choicesOf({ text }: Question, { method, filled: { calls } }: Filling, mentions: readonly Mention[]): string[] {
  return propertiesOf(method.inputSchema).flatMap(({ name, kind }) => {
    const choice = kind?.kind === "choice" ? calls[0]?.[name] : undefined;
    const start = typeof choice === "string" ? text.toLowerCase().indexOf(choice.toLowerCase()) : -1;
    if (typeof choice !== "string" || start === -1) return [];
    const next = mentions.find((one) => one.start > start);
    const isOf = next !== undefined && /^\s+of\s+(?:the\s+)?$/i.test(text.slice(start + choice.length, next.start));
    return isOf
      ? [`${shownIn(text.slice(start, next.end))} may be something else than the ${name} that is chosen`]
      : [];
  });
}

// "With holidays" says that there are some, and not which.
function namedAndNotGiven(
  { words }: Question,
  { method, filled: { calls } }: Filling,
  mentions: readonly Mention[],
): string[] {
  const forms = formsOf(method);
  const isFree = ({ start }: Word) => !mentions.some((one) => start >= one.start && start < one.end);
  const free = new Set(words.filter((word) => isFree(word) && !isAsking(word)).map(({ stem }) => stem));
  const results = new Set(outputsOf(method.outputSchema).flatMap(({ path }) => partsOf(path).map(stemOf)));
  return propertiesOf(method.inputSchema)
    .filter(({ name }) => calls[0]?.[name] === undefined && !SIDES.has(name.toLowerCase()))
    .filter(({ name }) => {
      const stems = partsOf(name).map(stemOf);
      return stems.length > 0 && stems.every((stem) => free.has(stem) && !forms.has(stem) && !results.has(stem));
    })
    .map(({ name }) => `the question speaks of ${name}, and gives ${method.name} none`);
}

// Whether a word of the question is one that the method says of itself, beside those for what has the form of its values.
function isAnchored({ words }: Question, { method, filled: { usedWords, takers } }: Filling): boolean {
  const forms = formsOf(method);
  const own = new Set([...nounsOf(method.name), ...partsOf(method.name).map(stemOf), ...stemsOf(method.description)]);
  const taken = new Set([...takers.values()].map(({ name }) => name));
  const results = new Set(
    outputsOf(method.outputSchema).flatMap(({ path }) => (taken.has(path) ? [] : partsOf(path).map(stemOf))),
  );
  const isOwn = (word: Word) => usedWords.has(word) || own.has(word.stem);
  return words.some((word) => !isAsking(word) && (results.has(word.stem) || (isOwn(word) && !forms.has(word.stem))));
}
