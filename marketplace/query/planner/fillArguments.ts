import { MAX_CALLS_PER_TURN } from "../../../settlement/domain/charges/turn.ts";
import type { Method } from "../../registry/listing.ts";
import { type Kind, type Property, propertiesOf } from "./kindOf.ts";
import type { Question, Value, Word } from "./readQuestion.ts";
import { stemOf, stemsOf } from "./stems.ts";

export type Filled =
  | {
      kind: "filled";
      // One for each call; more than one where the question names several of what the method takes one of.
      calls: readonly Readonly<Record<string, unknown>>[];
      usedValues: ReadonlySet<Value>;
      usedWords: ReadonlySet<Word>;
      // Which property each of the used values was taken for.
      takers: ReadonlyMap<Value, Property>;
      // What was not said and had to be assumed.
      assumptions: readonly string[];
      // Which properties were assumed, so that they can be left out again.
      assumed: readonly string[];
      // How many of what the question names are more than one turn asks about.
      leftOut: number;
    }
  | { kind: "missing"; properties: readonly Property[] };

const MAX_FAN_OUT = MAX_CALLS_PER_TURN;
// How far a word may stand from the value that it is about.
const NEAR = 2;

// Words before a day that say which end of a span it is.
const BEGINS = new Set(["from", "between", "since", "start", "begin"]);
const ENDS = new Set(["to", "until", "till", "and", "end", "through"]);

// Gives a method's properties what the question says: first where a word beside a value names the property, then in the order
// in which both are written. Values of an earlier question are taken where this one has none.
export function fillArguments(method: Method, question: Question, earlier: readonly Value[] = []): Filled {
  const properties = propertiesOf(method.inputSchema);
  const usedValues = new Set<Value>();
  const usedWords = new Set<Word>();
  const takers = new Map<Value, Property>();
  const given = new Map<string, unknown>();
  const assumptions: string[] = [];
  const assumed: string[] = [];
  let fanOut = null as Record<string, unknown>[] | null;
  let leftOut = 0;

  const take = (property: Property, value: Value) => {
    usedValues.add(value);
    takers.set(value, property);
    const read = value.kind === "text" && property.kind?.kind !== "text" ? (value.inside ?? value) : value;
    if (!read.isAmbiguous || !question.values.includes(value)) return;
    const written = question.text.slice(value.start, value.end);
    assumptions.push(`${written} was read as ${read.kind === "numbers" ? "a list" : `the number ${read.value}`}`);
  };
  const use = (property: Property, value: Value, read: unknown) => {
    given.set(property.name, read);
    take(property, value);
  };
  const open = (property: Property) => !given.has(property.name);
  const unused = (values: readonly Value[], kind: Kind) =>
    values.filter((value) => !usedValues.has(value) && readAs(value, kind) !== undefined);

  // What is chosen from a list is named by its own word. Where two properties have the same to choose from, each word is for one of
  // them: for that whose side it is on, as in "from dollars to euros", else in the order in which both are written.
  const choosing = properties.flatMap((property) =>
    property.kind?.kind === "choice"
      ? { property, choices: property.kind.choices, list: `${property.kind.choices}` }
      : [],
  );
  const rivalsOf = Map.groupBy(choosing, ({ list }) => list);
  // Each list is looked for once: many properties may choose from one that the question names much of.
  const choicesOf = new Map<string, Choice[]>();
  for (const { property, choices, list } of choosing.toSorted(
    (a, b) => Number(isSide(b.property)) - Number(isSide(a.property)),
  )) {
    const rivals = rivalsOf.get(list) ?? [];
    const named = choicesOf.get(list) ?? choicesIn(question, choices);
    choicesOf.set(list, named);
    if (named.length === 0) continue;
    const free = named.filter(({ words }) => !words.some((word) => usedWords.has(word)));
    const beside = isSide(property) ? free.find((choice) => isOnSide(property, choice)) : undefined;
    const sides = rivals.flatMap(({ property: other }) =>
      other !== property && !given.has(other.name) && SIDES.some((side) => side.has(other.name)) ? other : [],
    );
    const unclaimed = free.filter((choice) => !sides.some((other) => isOnSide(other, choice)));
    const choice = beside ?? unclaimed[0];
    if (choice === undefined) continue;
    given.set(property.name, choice.value);
    for (const word of choice.words) usedWords.add(word);
    for (const value of choice.values) usedValues.add(value);
    if (rivals.length > 1 && beside === undefined && unclaimed.length > 1)
      assumptions.push(`${choice.value} was taken for ${property.name}`);
  }

  // Lists of days are whatever days stand behind their name, or are said to be it: "holidays 2026-12-25 and 2026-12-28", "if
  // 2026-12-25 is a holiday".
  for (const property of properties.filter(({ kind }) => kind?.kind === "dates")) {
    const name = question.words.find(({ stem }) => stemsOf(property.name).includes(stem));
    if (name === undefined) continue;
    const dates = question.values.filter(({ kind }) => kind === "date");
    const days = calledSo(name, dates, question) ?? dates.filter(({ start }) => start > name.end);
    if (days.length === 0) continue;
    given.set(
      property.name,
      days.map(({ value }) => value),
    );
    for (const day of days) take(property, day);
    usedWords.add(name);
  }

  // A value that the property's own name stands beside.
  for (const property of properties.filter(open)) {
    const { kind } = property;
    if (kind === null) continue;
    const able = unused(question.values, kind);
    const named = namedBy(property, able, question, usedWords);
    if (named === undefined) {
      // "blocks 1, 2 and 3", where nothing takes a list.
      if (!isNumeric(kind) || fanOut !== null || properties.some(({ kind }) => kind?.kind === LIST.kind)) continue;
      const list = namedBy(property, unused(question.values, LIST), question, usedWords);
      if (list !== undefined) several(property, severalOf([], kind, [list]));
      continue;
    }
    // "blocks 1 and 2" are as many calls, if nothing else can take the second.
    const isAlone = properties.every((other) => other === property || other.kind?.kind !== kind.kind);
    const linked = isAlone && fanOut === null ? linkedTo(named, able, question) : [];
    if (linked.length > 1)
      several(
        property,
        linked.map((from) => ({ value: readAs(from, kind), from })),
      );
    else use(property, named, readAs(named, kind));
  }

  // The rest in order.
  for (const property of properties.filter(open)) {
    const { kind, isRequired } = property;
    if (kind === null || !isRequired) continue;
    const rivals = properties.filter((other) => open(other) && other.isRequired && other.kind?.kind === kind.kind);
    const own = unused(question.values, kind);
    // Several of what the method takes one of are as many calls.
    const many = kind.kind === "text" || rivals.length > 1 ? [] : severalOf(own, kind, unused(question.values, LIST));
    if (many.length > 1) {
      several(property, many);
      continue;
    }
    const value = own[0] ?? unused(earlier, kind)[0];
    if (value !== undefined) use(property, value, readAs(value, kind));
    else if (kind.kind === "numbers") gatherNumbers(property);
  }

  // "And how many …?" asks about what was asked about before, though the method could do without.
  if (usedValues.size === 0 && isAboutTheSame(question)) {
    for (const property of properties.filter(open)) {
      const value = property.kind === null ? undefined : unused(earlier, property.kind)[0];
      if (property.kind === null || property.kind.kind === "text" || value === undefined) continue;
      use(property, value, readAs(value, property.kind));
      assumptions.push(`${value.value}, which was asked about before, was taken for ${property.name}`);
    }
  }

  // A number that is left over belongs to the one property that could still take it, or to nobody.
  const left = unused(question.values, { kind: "number" });
  const able = properties.filter((property) => open(property) && isNumeric(property.kind));
  const [leftover] = left;
  const [taker] = able;
  const read = leftover && taker?.kind ? readAs(leftover, taker.kind) : undefined;
  if (left.length === 1 && able.length === 1 && leftover !== undefined && taker && read !== undefined) {
    use(taker, leftover, read);
    assumptions.push(`${question.text.slice(leftover.start, leftover.end)} was taken for ${taker.name}`);
    assumed.push(taker.name);
  }

  const missing = properties.filter((property) => property.isRequired && open(property));
  if (missing.length > 0) return { kind: "missing", properties: missing };
  const shared = Object.fromEntries(given);
  const calls = fanOut === null ? [shared] : fanOut.map((one) => ({ ...shared, ...one }));
  return { kind: "filled", calls, usedValues, usedWords, takers, assumptions, assumed, leftOut };

  // One call for each of them.
  function several(property: Property, many: readonly { value: unknown; from: Value }[]): void {
    fanOut = many.slice(0, MAX_FAN_OUT).map(({ value }) => ({ [property.name]: value }));
    leftOut = many.length - fanOut.length;
    given.set(property.name, null);
    const from = [...new Set(many.map(({ from }) => from))];
    for (const value of from) take(property, value);
    spansIn(from);
    listsIn(from);
  }

  // "4 and 6" are two numbers until somebody wants a list.
  function gatherNumbers(property: Property): void {
    const loose = unused(question.values, { kind: "number" });
    if (loose.length < 2) return;
    given.set(
      property.name,
      loose.map((value) => readAs(value, { kind: "number" })),
    );
    for (const value of loose) take(property, value);
    spansIn(loose);
  }

  // "1, 2 and 3, 4" may be one list as well, unless brackets say where each ends.
  function listsIn(values: readonly Value[]): void {
    for (const [i, { kind, start, end }] of values.entries()) {
      const next = values[i + 1];
      if (kind !== "numbers" || next === undefined || question.text[start] === "[") continue;
      if (!isLink(question.text.slice(end, next.start))) continue;
      assumptions.push(`${question.text.slice(start, next.end)} was read as two lists`);
    }
  }

  // "1 to 5" and "between 1 and 5" may mean all that lies between the two as well.
  function spansIn(values: readonly Value[]): void {
    for (const [i, { start, end }] of values.entries()) {
      const next = values[i + 1];
      if (next === undefined) return;
      const isSpan =
        SPAN.test(question.text.slice(end, next.start)) || LIES_BETWEEN.test(question.text.slice(0, start));
      if (!isSpan) continue;
      assumptions.push(
        `${question.text.slice(start, next.end)} was read as these two, and not as what lies between them`,
      );
    }
  }
}

// Whoever names something, or the newest of it, asks about that.
const isAboutTheSame = ({ text, values, words }: Question) =>
  values.length === 0 &&
  !words.some(({ stem }) => stem === NEWEST) &&
  /^\s*(?:and|also|(?:what|how)\s+about)\b|\b(?:it|its|they|their|them|that|this|these|those|same)\b/i.test(text);
const NEWEST = stemOf("newest");

const SPAN = /^\s*(?:up\s+)?(?:to|through|thru|till|until)\s*$/i;
const BETWEEN = /\bbetween\s+$/i;
const LIES_BETWEEN = /\bbetween\s+(?:\p{L}+\s+){0,2}$/iu;
const isLink = (text: string) => /^\s*(?:[,;]|,?\s*(?:and|or)\s)\s*$/i.test(text);

// A value and those that stand beside it in an enumeration: "1, 2 and block 3".
function linkedTo(first: Value, able: readonly Value[], { text }: Question): Value[] {
  const linked = [first];
  for (const value of able.slice(able.indexOf(first) + 1)) {
    const between = text.slice(linked.at(-1)?.end, value.start);
    const repeated = /\p{L}+\s*$/u.exec(text.slice(0, first.start))?.[0].trim() ?? "";
    const bare = repeated === "" ? between : between.replace(new RegExp(`\\s${repeated}\\s*$`, "i"), " ");
    if (!isLink(bare)) break;
    linked.push(value);
  }
  return BETWEEN.test(text.slice(0, first.start)) ? [first] : linked;
}

const IS_CALLED = /^\s*(?:is|are|was|were|being|as)\s+(?:an?\s+|the\s+|all\s+|both\s+)?$/i;

// The enumeration that ends before "are holidays".
function calledSo(name: Word, dates: readonly Value[], { text }: Question): Value[] | null {
  const last = dates.findLastIndex(({ end }) => end <= name.start);
  if (last === -1 || !IS_CALLED.test(text.slice(dates[last]?.end, name.start))) return null;
  let first = last;
  while (first > 0 && isLink(text.slice(dates[first - 1]?.end, dates[first]?.start))) first -= 1;
  return dates.slice(first, last + 1);
}

const LIST: Kind = { kind: "numbers" };

// Each value as the property takes it, and the one of the question that it is from. A list of numbers is several of them.
function severalOf(own: readonly Value[], kind: Kind, lists: readonly Value[]): { value: unknown; from: Value }[] {
  if (own.length > 0) return own.map((from) => ({ value: readAs(from, kind), from }));
  const [from] = lists;
  if (!isNumeric(kind) || from === undefined || from.kind !== "numbers") return [];
  return from.value.map((number) => ({ value: kind.kind === "digits" ? `${number}` : number, from }));
}

const isNumeric = (kind: Kind | null) => kind?.kind === "number" || kind?.kind === "digits";

// A value in the form that a property takes, or undefined if it is none.
function readAs(value: Value, { kind }: Kind): unknown {
  if (value.kind === "text" && kind !== "text") return value.inside && readAs(value.inside, { kind } as Kind);
  switch (kind) {
    case "digits":
      return value.kind === "number" && value.digits !== null ? value.digits : undefined;
    case "date":
    case "address":
    case "hash":
    case "text":
    case "number":
    case "numbers":
      return value.kind === kind ? value.value : undefined;
    default:
      return undefined;
  }
}

// "window 3", "3 days", "block 17", "from 2026-01-01": the value that stands nearest to the property's name, or else beside what it says
// of itself.
function namedBy(
  property: Property,
  able: readonly Value[],
  question: Question,
  usedWords: Set<Word>,
): Value | undefined {
  const names = new Set(stemsOf(property.name));
  const named = able.flatMap((value) => {
    const word = nameOf(property, names, value, question);
    return word === undefined ? [] : [{ value, word, gap: Math.max(word.start - value.end, value.start - word.end) }];
  });
  const [nearest] = named.sort((a, b) => a.gap - b.gap);
  if (nearest === undefined) return describedBy(property, able, question);
  // "from" and "to" say no more than which of two it is.
  if (!isSide(property)) usedWords.add(nearest.word);
  return nearest.value;
}

const isSide = ({ name }: Property) => BEGINS.has(name) || ENDS.has(name);

function nameOf(property: Property, names: ReadonlySet<string>, value: Value, question: Question): Word | undefined {
  const { before, near } = besides(value, question);
  // "from" and "to" say what follows them, and nothing of what they follow.
  const side = BEGINS.has(property.name) ? BEGINS : ENDS;
  if (isSide(property)) return side.has(before?.text.toLowerCase() ?? "") ? before : undefined;
  return near.find(({ stem }) => names.has(stem));
}

// Only numbers are found by the property's description: everything else is known by its form.
function describedBy(property: Property, able: readonly Value[], question: Question): Value | undefined {
  const numbers = able.filter(({ kind }) => kind === "number" || kind === "numbers");
  if (numbers.length === 0 || isSide(property)) return undefined;
  const described = new Set(stemsOf(property.description).filter((stem) => stem.length > 2 && !COMMON.has(stem)));
  return numbers.find((value) =>
    besides(value, question)
      .near.slice(0, 2)
      .some(({ stem }) => described.has(stem)),
  );
}

type Beside = { before: Word | undefined; near: readonly Word[] };

// Looked for once: each property of each method asks for them.
const neighbours = new WeakMap<Question, Map<Value, Beside>>();

// The words around a value, the nearest first. What stands beyond another value is beside that one.
function besides(value: Value, question: Question): Beside {
  const known = neighbours.get(question) ?? new Map<Value, Beside>();
  neighbours.set(question, known);
  const beside = known.get(value) ?? wordsBeside(value, question);
  known.set(value, beside);
  return beside;
}

function wordsBeside(value: Value, { words, values }: Question): Beside {
  const at = words.findIndex(({ start }) => start > value.start);
  const index = at === -1 ? words.length : at;
  const reaches = (word: Word) =>
    !values.some((other) =>
      word.start < value.start
        ? other.start > word.start && other.start < value.start
        : other.start > value.start && other.start < word.start,
    );
  const before = words
    .slice(Math.max(0, index - NEAR), index)
    .reverse()
    .filter(reaches);
  const after = words.slice(index, index + NEAR).filter(reaches);
  const near = [before[0], after[0], before[1], after[1]].filter((word) => word !== undefined);
  return { before: before[0], near };
}

const COMMON = new Set(["the", "how", "many", "are", "and", "left", "out", "count", "newest"].map(stemOf));

const MAX_CHOICES = 200;
// What a question names of them: so many in all, and each so often. Whoever writes more than that asks for nothing.
const MAX_NAMED = 60;
const MAX_TIMES = 3;
const MAX_LOOKS = 20;

// `before` is the word before it.
type Choice = { value: string; start: number; before: string; words: Word[]; values: Value[] };

// The choices that the question has as words of their own, the longest where one is in another, in the order in which they stand.
function choicesIn({ text, words, values }: Question, choices: readonly string[]): Choice[] {
  const lower = text.toLowerCase();
  const found: (Omit<Choice, "before"> & { end: number })[] = [];
  for (const choice of choices.slice(0, MAX_CHOICES).toSorted((a, b) => b.length - a.length)) {
    if (choice === "") continue;
    const wanted = choice.toLowerCase();
    let start = lower.indexOf(wanted);
    let times = 0;
    for (let looks = 0; start !== -1 && looks < MAX_LOOKS && times < MAX_TIMES; looks += 1) {
      if (found.length === MAX_NAMED) break;
      const end = start + choice.length;
      const isWord = !isLetter(lower[start - 1]) && !isLetter(lower[end]);
      if (isWord && !found.some((one) => start < one.end && end > one.start)) {
        const inside = (part: { start: number; end: number }) => part.start >= start && part.end <= end;
        found.push({ value: choice, start, end, words: words.filter(inside), values: values.filter(inside) });
        times += 1;
      }
      start = lower.indexOf(wanted, end);
    }
  }
  return found
    .sort((a, b) => a.start - b.start)
    .map((one) => ({ ...one, before: words.findLast(({ end }) => end <= one.start)?.text.toLowerCase() ?? "" }));
}

const SIDES = [BEGINS, new Set([...ENDS, "in", "into"])];

const isOnSide = ({ name }: Property, { before }: Choice) => SIDES.some((side) => side.has(name) && side.has(before));

const isLetter = (character = " ") => /[\p{L}\p{N}]/u.test(character);
