import { stemOf } from "./stems.ts";

// Something in a question that can become an argument.
export type Value = {
  id: number;
  start: number;
  end: number;
  // Whether it can as well be read as something else.
  isAmbiguous?: true;
} & (
  | { kind: "date"; value: string }
  | { kind: "address" | "hash"; value: string }
  // `inside` is what a text in quotes is to whatever takes no text: people quote days, addresses and numbers too.
  | { kind: "text"; value: string; inside?: Value }
  | { kind: "number"; value: number; digits: string | null }
  | { kind: "numbers"; value: number[] }
);

export type Word = { text: string; stem: string; start: number; end: number };

export type Question = {
  text: string;
  values: readonly Value[];
  // What is left when the values are taken out.
  words: readonly Word[];
};

type Found = Value extends infer V ? (V extends Value ? Omit<V, "id"> : never) : never;

const NUMBER = String.raw`-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?`;
const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?";
const NUMBER_WORDS = new Map(
  "two three four five six seven eight nine ten eleven twelve".split(" ").map((word, i) => [word, i + 2]),
);
const DAY_MS = 86_400_000;
const DAYS = new Map([
  ["yesterday", -1],
  ["today", 0],
  ["tomorrow", 1],
]);

// Reads what a question names, from the most particular to the least, so that a date is not taken for three numbers and a
// number in a quoted text for an argument. A colon behind the name of a tool says whom it is for.
export function readQuestion(text: string, nowMs: number, tools: readonly string[] = []): Question {
  const called = tools.map((name) => `${name.trim()}:`.toLowerCase());
  return readText(text, nowMs, { isCalled: (before) => called.includes(before.trim().toLowerCase()) });
}

type Reading = { isQuoted?: true; isCalled: (before: string) => boolean };

function readText(text: string, nowMs: number, { isQuoted, isCalled }: Reading): Question {
  const found: Found[] = [];
  // What people type for a minus is several characters, each as long as the one that is read.
  let rest = text.replace(/(?<![\p{L}\p{N}]|\d\s)[−–](?=\d)/gu, "-");
  const blank = (start: number, end: number) => {
    rest = rest.slice(0, start) + " ".repeat(end - start) + rest.slice(end);
  };
  const take = (pattern: RegExp, read: (match: RegExpMatchArray) => object | null) => {
    for (const match of rest.matchAll(pattern)) {
      const value = read(match);
      if (value === null) continue;
      const start = match.index;
      const end = start + match[0].length;
      found.push({ ...value, start, end } as Found);
      blank(start, end);
    }
  };

  take(/"([^"]*)"|“([^“”]*)”|«([^«»]*)»|(?<![\p{L}\p{N}])'((?:[^']|'(?=\p{L}))*)'(?!\p{L})/gu, (match) => {
    const value = match.slice(1).find((part) => part !== undefined) ?? "";
    const inside = isQuoted ? undefined : insideOf(value, nowMs);
    return { kind: "text", value, ...(inside && { inside }) };
  });
  take(/\b0x[0-9a-fA-F]{64}\b/g, ([value]) => ({ kind: "hash", value }));
  take(/\b0x[0-9a-fA-F]{40}\b/g, ([value]) => ({ kind: "address", value }));
  take(/\b(\d{4})-(\d{2})-(\d{2})\b/g, ([, year, month, day]) => dateOf(Number(year), Number(month), Number(day)));
  take(/(?<![\w./])(\d{4})\/(\d{1,2})\/(\d{1,2})(?![\w/]|\.\d)/g, ([, year, month, day]) =>
    dateOf(Number(year), Number(month), Number(day)),
  );
  take(/(?<![\w./])(\d{1,2})([./])(\d{1,2})\2(\d{4})(?![\w/]|\.\d)/g, ([, first, , second, year]) =>
    dayOrMonth(Number(first), Number(second), Number(year)),
  );
  take(new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${MONTH},? (\\d{4})\\b`, "gi"), ([, day, month, year]) =>
    dateOf(Number(year), monthOf(month), Number(day)),
  );
  take(new RegExp(`\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})\\b`, "gi"), ([, month, day, year]) =>
    dateOf(Number(year), monthOf(month), Number(day)),
  );
  take(/\b(yesterday|today|tomorrow)\b/gi, ([word]) => ({
    kind: "date",
    value: new Date(nowMs + (DAYS.get(word.toLowerCase()) ?? 0) * DAY_MS).toISOString().slice(0, 10),
  }));
  for (const { kind, value, start, end } of [...found]) {
    if (kind !== "date") continue;
    for (const weekday of weekdaysBeside(rest, String(value), start, end)) blank(weekday.start, weekday.end);
  }
  // What follows a colon to the end is a text, unless it is values, begins with a list of them, or asks about those before it.
  if (!found.some(({ kind }) => kind === "text")) {
    take(/(?<=:\s)\s*[^:]*\p{L}{2}[^:]*$/gu, ({ 0: value, index }) =>
      /^\s*[[(]?\s*-?\d+(?:\.\d+)?(?:\s*[,;]\s*-?\d|\s+(?:and|or)\s+-?\d)/.test(value) ||
      (QUESTION.test(value) && ENDS_WITH_VALUE.test(text.slice(0, index))) ||
      isCalled(text.slice(0, index))
        ? null
        : { kind: "text", value: value.trim() },
    );
  }
  // What somebody calls a list for themselves: "x = [1, 2]".
  for (const { 0: name, index } of [...rest.matchAll(/(?<![\p{L}\p{N}])\p{L}\s*=\s*(?=\[)/gu)])
    blank(index, index + name.length);
  // So many days behind one that both sides know, as whoever trades writes it.
  take(/\bT\s?\+\s?(\d{1,2})\b/g, ([, digits]) => ({ kind: "number", value: Number(digits), digits }));
  // Signs that change what a number means are words, and so is what goes on between numbers that are not written.
  const signs = [...rest.matchAll(SIGNS)].map(({ 0: sign, index }) => ({ text: sign, index }));
  take(new RegExp(`\\[\\s*${NUMBER}(?:\\s*[,;\\s]\\s*${NUMBER})*\\s*\\]`, "g"), ([list]) => numbersOf(list));
  // Digits in groups of three are one number, as people write large ones, unless each of them may as well be one.
  take(/(?<![\w.,])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,]|\.\d)/g, ([digits]) => grouped(digits));
  take(/(?<![\w.,])-?\d{1,3}(?:[ \u00a0\u202f']\d{3})+(?:\.\d+)?(?![\w,]|\.\d)/g, ([digits]) => grouped(digits));
  const list = `${NUMBER}(?:\\s*[,;]\\s*${NUMBER})+(?:,?\\s+(?:and|or)\\s+${NUMBER}(?!\\s*[,;]\\s*[-\\d]))?`;
  take(new RegExp(`(?<![\\w.])${list}(?![\\w])`, "g"), ([list]) =>
    isOneNumber(list) ? ambiguous(numbersOf(list)) : numbersOf(list),
  );
  take(new RegExp(`(?<![\\w.])${NUMBER}(?!\\w|\\.\\d)`, "g"), ([digits]) => {
    const value = Number(digits);
    if (!Number.isFinite(value)) return null;
    return { kind: "number", value, digits: /^\d+$/.test(digits) ? digits : null };
  });
  take(/\bone\b(?!\s+(?:of|by)\b)/gi, ({ index }) =>
    ONE.test(rest.slice(0, index)) ? null : { kind: "number", value: 1, digits: "1", isAmbiguous: true },
  );
  take(/\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/gi, ([word]) => {
    const value = NUMBER_WORDS.get(word.toLowerCase()) ?? 0;
    return { kind: "number", value, digits: `${value}` };
  });

  const words = [...rest.matchAll(/[\p{L}\p{N}]+/gu)]
    .filter(({ 0: word }) => word.toLowerCase() !== "one")
    .map(({ 0: word, index }) => ({ text: word, index }));
  return {
    text,
    values: found.sort((a, b) => a.start - b.start).map((value, id) => ({ ...value, id }) as Value),
    words: [...words, ...signs]
      .sort((a, b) => a.index - b.index)
      .map(({ text: word, index }) => ({ text: word, stem: stemOf(word), start: index, end: index + word.length })),
  };
}

const WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

// The name of the day that a date is, where it stands beside it: it says nothing more. That of another day does.
function weekdaysBeside(text: string, date: string, start: number, end: number): { start: number; end: number }[] {
  const name = WEEKDAYS[new Date(date).getUTCDay()] ?? "";
  const names = `(?:${name}|${name.slice(0, 3)})`;
  const before = new RegExp(`\\b${names}\\.?,?\\s*$`, "i").exec(text.slice(0, start));
  const after = new RegExp(`^(?:,\\s*(?:a\\s+)?|\\s*\\(\\s*)${names}\\b\\)?`, "i").exec(text.slice(end));
  return [
    ...(before === null ? [] : [{ start: before.index, end: start }]),
    ...(after === null ? [] : [{ start: end, end: end + after[0].length }]),
  ];
}

const QUESTION = /^\s*(?:what|which|how|when|who|where)\b.*\?\s*$/i;
const ENDS_WITH_VALUE = /[\d\])]\S*\s*:\s*$/;

// Of money and parts wherever they stand, of arithmetic and of spans beside a number alone.
const SIGNS =
  /[%‰$€£¥°√±≤≥≠≈]|(?<=[\p{L}\p{N}]\s*)\+(?=\s*\d)|(?<=\d\s*)[/*^×÷<>–−:](?=\s*\d)|(?<=\d\s*)-(?=\s*\d)|[<>~](?=\s*\d)|[-–−](?=\s+\d)|(?:…|\.{2,})(?=[\s,;]*\d)/gu;

// Which one, that one: not the number.
const ONE = /\b(?:which|this|that|the|any|each|every|no)\s+$/i;

const monthOf = (name = "") => MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;

// The one value that a quoted text is, if it is nothing else.
function insideOf(quoted: string, nowMs: number): Value | undefined {
  const { values, words } = readText(quoted, nowMs, { isQuoted: true, isCalled: () => false });
  const [only] = values;
  if (values.length !== 1 || words.length > 0 || only === undefined || only.kind === "text") return undefined;
  return /[^\s.]/.test(quoted.slice(0, only.start) + quoted.slice(only.end)) ? undefined : only;
}

// Null for what no calendar has.
function dateOf(year: number, month: number, day: number): object | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return { kind: "date", value: date.toISOString().slice(0, 10) };
}

// 13/11/2026 is one day, 03/04/2026 is another in each half of the world, and so none.
const dayOrMonth = (first: number, second: number, year: number): object | null =>
  first === second || second > 12 ? dateOf(year, first, second) : first > 12 ? dateOf(year, second, first) : null;

// Null if one of them is larger than any number here.
function numbersOf(list: string): object | null {
  const value = [...list.matchAll(new RegExp(NUMBER, "g"))].map(([digits]) => Number(digits));
  return value.every(Number.isFinite) ? { kind: "numbers", value } : null;
}

const ambiguous = (value: object | null) => value && { ...value, isAmbiguous: true };

// "1,5" is one number to some and two to others, and so is "100,200".
const isOneNumber = (list: string) =>
  /(?<!\d)\d{1,3},\d{3}(?!\d)/.test(list) || /^-?\d+,\d+(?:\s+(?:and|or)\s|$)/.test(list);

// "1,234", "100,000" and "20 000", of which the digits mean what they say without what is between them. Null for "100,200".
function grouped(written: string): object | null {
  const digits = written.replace(/[^\d.-]/g, "");
  const isList = written.includes(",") && /^-?\d{3},/.test(written) && !written.includes(",000");
  if (isList) return null;
  return { kind: "number", value: Number(digits), digits: /^\d+$/.test(digits) ? digits : null, isAmbiguous: true };
}
