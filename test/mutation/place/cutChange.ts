import { type Token, tokenize } from "./tokenize.ts";

// One change of one place: a few lines as they were, and with the bug in them.
export type Change = { file: string; before: string; after: string };

// The tokens of a change, and which of them it is about.
export type Cut = {
  before: readonly Token[];
  after: readonly Token[];
  afterText: string;
  // The tokens that change are those from `from` to before `to` in `before`, and to before `toAfter` in `after`.
  from: number;
  to: number;
  toAfter: number;
};

export function cutChange({ before: beforeText, after: afterText }: Change): Cut {
  const before = tokenize(beforeText);
  const after = tokenize(afterText);
  const shorter = Math.min(before.length, after.length);
  let from = 0;
  while (from < shorter && before[from]?.text === after[from]?.text) from += 1;
  let same = 0;
  while (same < shorter - from && before.at(-1 - same)?.text === after.at(-1 - same)?.text) same += 1;
  const to = before.length - same;
  const toAfter = after.length - same;
  if (from === to && from === toAfter) throw new RangeError("it changes nothing");
  const shift =
    from === toAfter ? slide(beforeText, before, from, to) : from === to ? slide(afterText, after, from, toAfter) : 0;
  return { before, after, afterText, from: from - shift, to: to - shift, toAfter: toAfter - shift };
}

// How many tokens earlier a run that was taken out or put in may begin as well, so that it begins and ends with lines.
function slide(text: string, tokens: readonly Token[], from: number, to: number): number {
  const breaksBefore = (i: number) => text.slice(tokens[i - 1]?.end ?? 0, tokens[i]?.start).includes("\n");
  const neatness = (shift: number) => Number(breaksBefore(from - shift)) + Number(breaksBefore(to - shift));
  let best = 0;
  for (let i = 1; i <= from && tokens[from - i]?.text === tokens[to - i]?.text; i += 1) {
    if (neatness(i) > neatness(best)) best = i;
  }
  return best;
}
