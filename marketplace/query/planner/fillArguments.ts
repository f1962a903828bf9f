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
  const given = new Map<string, unknown>();
  const assumptions: string[] = [];
  const assumed: string[] = [];
  let fanOut: Record<string, unknown>[] | null = null;
  let leftOut = 0;

  const use = (property: Property, value: Value, read: unknown) => {
    given.set(property.name, read);
    usedValues.add(value);
    if (value.isAmbiguous) assumptions.push(`${question.text.slice(value.start, value.end)} was read as a list`);
  };
  const open = (property: Property) => !given.has(property.name);
  const unused = (values: readonly Value[], kind: Kind) =>
    values.filter((value) => !usedValues.has(value) && readAs(value, kind) !== undefined);

  // What is chosen from a list is named by its own word.
  for (const property of properties) {
    if (property.kind?.kind !== "choice") continue;
    const choice = choiceIn(question, property.kind.choices);
    if (choice === null) continue;
    given.set(property.name, choice.value);
    for (const word of choice.words) usedWords.add(word);
    for (const value of choice.values) usedValues.add(value);
  }

  // Lists of days are whatever days stand behind their name: "holidays 2026-12-25 and 2026-12-28".
  for (const property of properties.filter(({ kind }) => kind?.kind === "dates")) {
    const name = question.words.find(({ stem }) => stemsOf(property.name).includes(stem));
    const days = question.values.filter(({ kind, start }) => kind === "date" && name !== undefined && start > name.end);
    if (name === undefined || days.length === 0) continue;
    given.set(
      property.name,
      days.map(({ value }) => value),
    );
    for (const day of days) usedValues.add(day);
    usedWords.add(name);
  }

  // A value that the property's own name stands beside.
  for (const property of properties.filter(open)) {
    const { kind } = property;
    if (kind === null) continue;
    const named = unused(question.values, kind).find((value) => namesIt(property, value, question, usedWords));
    if (named !== undefined) use(property, named, readAs(named, kind));
  }

  // The rest in order.
  for (const property of properties.filter(open)) {
    const { kind, isRequired, name } = property;
    if (kind === null || !isRequired) continue;
    const rivals = properties.filter((other) => open(other) && other.isRequired && other.kind?.kind === kind.kind);
    const own = unused(question.values, kind);
    // Several of what the method takes one of are as many calls.
    const several =
      kind.kind === "text" || rivals.length > 1 ? [] : severalOf(own, kind, unused(question.values, LIST));
    if (several.length > 1) {
      fanOut = several.slice(0, MAX_FAN_OUT).map(({ value }) => ({ [name]: value }));
      leftOut = several.length - fanOut.length;
      given.set(name, null);
      for (const { from } of several) usedValues.add(from);
      continue;
    }
    const value = own[0] ?? unused(earlier, kind)[0];
    if (value !== undefined) use(property, value, readAs(value, kind));
    else if (kind.kind === "numbers") gatherNumbers(property);
  }

  // A number that is left over belongs to the one property that could still take it, or to nobody.
  const left = unused(question.values, { kind: "number" });
  const takers = properties.filter((property) => open(property) && isNumeric(property.kind));
  const [leftover] = left;
  const [taker] = takers;
  if (left.length === 1 && takers.length === 1 && leftover !== undefined && taker?.kind) {
    use(taker, leftover, readAs(leftover, taker.kind));
    assumptions.push(`${question.text.slice(leftover.start, leftover.end)} was taken for ${taker.name}`);
    assumed.push(taker.name);
  }

  const missing = properties.filter((property) => property.isRequired && open(property));
  if (missing.length > 0) return { kind: "missing", properties: missing };
  const shared = Object.fromEntries(given);
  const calls = fanOut === null ? [shared] : fanOut.map((one) => ({ ...shared, ...one }));
  return { kind: "filled", calls, usedValues, usedWords, assumptions, assumed, leftOut };

  // "4 and 6" are two numbers until somebody wants a list.
  function gatherNumbers(property: Property): void {
    const loose = unused(question.values, { kind: "number" });
    if (loose.length < 2) return;
    given.set(
      property.name,
      loose.map(({ value }) => value),
    );
    for (const value of loose) usedValues.add(value);
  }
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

// "window 3", "3 days", "block 17", "from 2026-01-01".
function namesIt(property: Property, value: Value, { words }: Question, usedWords: Set<Word>): boolean {
  const names = new Set(stemsOf(property.name));
  const at = words.findIndex(({ start }) => start > value.start);
  const index = at === -1 ? words.length : at;
  const before = words.slice(Math.max(0, index - NEAR), index).reverse();
  const after = words.slice(index, index + NEAR);
  // "from" and "to" say what follows them, and nothing of what they follow.
  const side = BEGINS.has(property.name) ? BEGINS : ENDS.has(property.name) ? ENDS : null;
  if (side !== null) return side.has(before[0]?.text.toLowerCase() ?? "");
  const near = [before[0], after[0], before[1], after[1]].filter((word) => word !== undefined);
  const named = near.find(({ stem }) => names.has(stem));
  if (named !== undefined) {
    usedWords.add(named);
    return true;
  }
  // Only numbers are found by the property's description: everything else is known by its form.
  if (value.kind !== "number") return false;
  const described = new Set(stemsOf(property.description).filter((stem) => stem.length > 2 && !COMMON.has(stem)));
  return near.slice(0, 2).some(({ stem }) => described.has(stem));
}

const COMMON = new Set(["the", "how", "many", "are", "and", "left", "out", "count", "newest"].map(stemOf));

const MAX_CHOICES = 200;

// The longest choice that the question has as a word of its own.
function choiceIn(
  { text, words, values }: Question,
  choices: readonly string[],
): { value: string; words: Word[]; values: Value[] } | null {
  const lower = text.toLowerCase();
  for (const choice of choices.slice(0, MAX_CHOICES).toSorted((a, b) => b.length - a.length)) {
    const start = lower.indexOf(choice.toLowerCase());
    const end = start + choice.length;
    if (start === -1 || isLetter(lower[start - 1]) || isLetter(lower[end])) continue;
    const inside = (part: { start: number; end: number }) => part.start >= start && part.end <= end;
    return { value: choice, words: words.filter(inside), values: values.filter(inside) };
  }
  return null;
}

const isLetter = (character = " ") => /[\p{L}\p{N}]/u.test(character);
