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
  | { kind: "address" | "hash" | "text"; value: string }
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

const NUMBER = String.raw`-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`;
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
// number in a quoted text for an argument.
export function readQuestion(text: string, nowMs: number): Question {
  const found: Found[] = [];
  // What people type for a minus is several characters, each as long as the one that is read.
  let rest = text.replace(/(?<![\p{L}\p{N}]|\d\s)[−–](?=\d)/gu, "-");
  const take = (pattern: RegExp, read: (match: RegExpMatchArray) => object | null) => {
    for (const match of rest.matchAll(pattern)) {
      const value = read(match);
      if (value === null) continue;
      const start = match.index;
      const end = start + match[0].length;
      found.push({ ...value, start, end } as Found);
      rest = rest.slice(0, start) + " ".repeat(end - start) + rest.slice(end);
    }
  };

  take(/"([^"]*)"|“([^”]*)”|«([^»]*)»|(?<![\p{L}\p{N}])'((?:[^']|'(?=\p{L}))*)'(?!\p{L})/gu, (match) => ({
    kind: "text",
    value: match.slice(1).find((part) => part !== undefined) ?? "",
  }));
  take(/\b0x[0-9a-fA-F]{64}\b/g, ([value]) => ({ kind: "hash", value }));
  take(/\b0x[0-9a-fA-F]{40}\b/g, ([value]) => ({ kind: "address", value }));
  take(/\b(\d{4})-(\d{2})-(\d{2})\b/g, ([, year, month, day]) => dateOf(Number(year), Number(month), Number(day)));
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
  // What follows a colon to the end is a text, unless it is values or begins with a list of them.
  if (!found.some(({ kind }) => kind === "text")) {
    take(/(?<=:\s)\s*[^:]*\p{L}{2}[^:]*$/gu, ([value]) =>
      /^\s*[[(]?\s*-?\d+(?:\.\d+)?(?:\s*[,;]\s*-?\d|\s+(?:and|or)\s+-?\d)/.test(value)
        ? null
        : { kind: "text", value: value.trim() },
    );
  }
  // Signs that change what a number means are words, and so is what goes on between numbers that are not written.
  const signs = [...rest.matchAll(SIGNS)].map(({ 0: sign, index }) => ({ text: sign, index }));
  take(new RegExp(`\\[\\s*${NUMBER}(?:\\s*[,;\\s]\\s*${NUMBER})*\\s*\\]`, "g"), ([list]) => numbersOf(list));
  // Digits in groups of three are one number, as people write large ones, unless each of them may as well be one.
  take(/(?<![\w.,])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w,]|\.\d)/g, ([digits]) => grouped(digits));
  take(/(?<![\w.,])-?\d{1,3}(?:[ \u00a0\u202f']\d{3})+(?:\.\d+)?(?![\w,]|\.\d)/g, ([digits]) => grouped(digits));
  const list = `${NUMBER}(?:\\s*[,;]\\s*${NUMBER})+(?:,?\\s+(?:and|or)\\s+${NUMBER}(?!\\s*[,;]\\s*[-\\d]))?`;
  take(new RegExp(`(?<![\\w.])${list}(?![\\w])`, "g"), ([list]) =>
    isOneNumber(list) ? { ...numbersOf(list), isAmbiguous: true } : numbersOf(list),
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

// Of money and parts wherever they stand, of arithmetic and of spans beside a number alone.
const SIGNS =
  /[%‰$€£¥°√±≤≥≠≈]|(?<=[\p{L}\p{N}]\s*)\+(?=\s*\d)|(?<=\d\s*)[/*^×÷<>–−:](?=\s*\d)|(?<=\d\s*)-(?=\s*\d)|[<>~](?=\s*\d)|[-–−](?=\s+\d)|(?:…|\.{2,})(?=[\s,;]*\d)/gu;

// Which one, that one: not the number.
const ONE = /\b(?:which|this|that|the|any|each|every|no)\s+$/i;

const monthOf = (name = "") => MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;

// Null for what no calendar has.
function dateOf(year: number, month: number, day: number): object | null {
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return { kind: "date", value: date.toISOString().slice(0, 10) };
}

const numbersOf = (list: string) => ({
  kind: "numbers",
  value: [...list.matchAll(new RegExp(NUMBER, "g"))].map(([digits]) => Number(digits)),
});

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
