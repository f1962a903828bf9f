import { letOthersRun } from "../../../settlement/domain/scheduling/letOthersRun.ts";
import type { Output } from "../turn/createCaller.ts";

// What numbers may come from: the question, what tools were asked and have answered, and what was computed from that.
export type Said = { query: string; outputs: readonly Output[]; derived?: readonly string[] };

const NUMBER = /\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d{1,3}(?!\d))?/g;
// Some milliseconds of reading.
const CHARACTERS_AT_ONCE = 64 * 1024;
// No number that anybody writes is longer; what is, is read as two.
const MAX_NUMBER_LENGTH = 400;
// Beyond that nobody rounds.
const MAX_DECIMALS = 20;
const SCALES: Readonly<Record<string, number>> = { thousand: 1e3, million: 1e6, billion: 1e9, trillion: 1e12 };
const SCALE = /^\s*(thousand|million|billion|trillion)\b/i;

type Wanted = { written: string; value: number; decimals: number; scale: number; isNegative: boolean };

// Numbers of a text that neither the question nor any tool has said. Rounded ones count as said, and so does the size of one below
// zero: something falls by it. Tools answer megabytes, of which nothing is kept here and only the neighbours of what is looked for are
// compared, and others run in between.
export async function findUngrounded(text: string, { query, outputs, derived = [] }: Said): Promise<string[]> {
  const numbers = numbersIn(text);
  // What is looked for, by how it was rounded and written.
  const wanted = [
    ...Map.groupBy(numbers, ({ decimals, scale, isNegative }) => `${decimals} ${scale} ${isNegative}`),
  ].map(([, some]) => ({ ...(some[0] as Wanted), values: new Set(some.map(({ value }) => value)) }));
  const isScaled = wanted.some(({ scale }) => scale !== 1);
  const isSigned = wanted.some(({ isNegative }) => isNegative);
  const floors = new Set(numbers.map(({ value }) => Math.floor(value)));

  function take(size: number, isBelowZero: boolean): void {
    const floor = Math.floor(size);
    // Rounded up it is the next one's neighbour.
    if (!isScaled && !floors.has(floor) && !floors.has(floor + 1)) return;
    for (const { decimals, scale, isNegative, values } of wanted) {
      if (isNegative && !isBelowZero) continue;
      values.delete(size / scale);
      values.delete(Number((size / scale).toFixed(decimals)));
    }
  }

  for (const source of sourcesOf(query, outputs, derived)) {
    for (let start = 0; start < source.length && wanted.some(({ values }) => values.size > 0); ) {
      const end = endOf(source, start + CHARACTERS_AT_ONCE);
      for (const { 0: digits, index } of source.slice(start, end).matchAll(NUMBER)) {
        const at = start + index;
        const scale = isScaled ? scaleAfter(source, at + digits.length) : 1;
        const isBelowZero = isSigned && isMinus(source, at);
        for (const one of readingsOf(digits)) take(one * scale, isBelowZero);
      }
      start = end;
      if (start < source.length) await letOthersRun();
    }
  }
  const missing = (one: Wanted) =>
    wanted.some(
      ({ values, decimals, scale, isNegative }) =>
        decimals === one.decimals && scale === one.scale && isNegative === one.isNegative && values.has(one.value),
    );
  return numbers.filter(missing).map(({ written }) => written);
}

function numbersIn(text: string): Wanted[] {
  const numbers = [...text.matchAll(NUMBER)].map(({ 0: digits, index }): Wanted => {
    const plain = digits.replaceAll(",", "");
    const end = index + digits.length;
    const [behind = ""] = SCALE.exec(text.slice(end, end + 20)) ?? [];
    const isNegative = isMinus(text, index);
    return {
      written: `${isNegative ? "-" : ""}${digits}${behind}`,
      value: Number(plain),
      decimals: Math.min(plain.split(".")[1]?.length ?? 0, MAX_DECIMALS),
      scale: scaleAfter(text, end),
      isNegative,
    };
  });
  return [...new Map(numbers.map((number) => [number.written, number])).values()];
}

const scaleAfter = (text: string, end: number) =>
  SCALES[SCALE.exec(text.slice(end, end + 20))?.[1]?.toLowerCase() ?? ""] ?? 1;

// A sign, and not what stands between two numbers or in a word.
const isMinus = (text: string, index: number) =>
  /(?:^|[^\p{L}\p{N}\s]|[^\p{N}]\s+|^\s+)[-−]$/u.test(text.slice(Math.max(0, index - 4), index));

function* sourcesOf(query: string, outputs: readonly Output[], derived: readonly string[]) {
  yield query;
  for (const { text, args } of outputs) {
    yield text;
    yield JSON.stringify(args);
  }
  yield* derived;
}

const THOUSANDS = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;

// What has commas in it is a list, as JSON writes one, or one number, as people do.
function* readingsOf(digits: string) {
  for (const one of digits.split(",")) if (one !== "") yield Number(one);
  if (THOUSANDS.test(digits)) yield Number(digits.replaceAll(",", ""));
}

// Where a number does not go on.
function endOf(text: string, from: number): number {
  let end = from;
  while (end < text.length && end < from + MAX_NUMBER_LENGTH && /[\d.]/.test(text.charAt(end))) end += 1;
  return end;
}
