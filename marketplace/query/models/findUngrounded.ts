import { letOthersRun } from "../../../settlement/domain/scheduling/letOthersRun.ts";
import type { Output } from "../turn/createCaller.ts";

// What numbers may come from: the question, what tools were asked and have answered, and what was computed from that.
export type Said = { query: string; outputs: readonly Output[]; derived?: readonly string[] };

const NUMBER = /\d[\d,]*(?:\.\d+)?/g;
// Some milliseconds of reading.
const CHARACTERS_AT_ONCE = 64 * 1024;
// No number that anybody writes is longer; what is, is read as two.
const MAX_NUMBER_LENGTH = 400;
// Beyond that nobody rounds.
const MAX_DECIMALS = 20;

// Numbers of a text that neither the question nor any tool has said. Rounded ones count as said. Tools answer megabytes, of which
// nothing is kept here and only the neighbours of what is looked for are compared, and others run in between.
export async function findUngrounded(text: string, { query, outputs, derived = [] }: Said): Promise<string[]> {
  const numbers = [...new Set(text.match(NUMBER) ?? [])].map((digits) => {
    const plain = digits.replaceAll(",", "");
    return { digits, value: Number(plain), decimals: Math.min(plain.split(".")[1]?.length ?? 0, MAX_DECIMALS) };
  });
  // What is looked for, by how many decimals it was rounded to.
  const wanted = [...Map.groupBy(numbers, ({ decimals }) => decimals)].map(([decimals, some]) => ({
    decimals,
    values: new Set(some.map(({ value }) => value)),
  }));
  const floors = new Set(numbers.map(({ value }) => Math.floor(value)));

  function take(number: number): void {
    const floor = Math.floor(number);
    // Rounded up it is the next one's neighbour.
    if (!floors.has(floor) && !floors.has(floor + 1)) return;
    for (const { decimals, values } of wanted) {
      values.delete(number);
      values.delete(Number(number.toFixed(decimals)));
    }
  }

  for (const source of sourcesOf(query, outputs, derived)) {
    for (let start = 0; start < source.length && wanted.some(({ values }) => values.size > 0); ) {
      const end = endOf(source, start + CHARACTERS_AT_ONCE);
      for (const [digits] of source.slice(start, end).matchAll(NUMBER)) for (const one of readingsOf(digits)) take(one);
      start = end;
      if (start < source.length) await letOthersRun();
    }
  }
  const missing = new Set(wanted.flatMap(({ values }) => [...values]));
  return numbers.filter(({ value }) => missing.has(value)).map(({ digits }) => digits);
}

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
