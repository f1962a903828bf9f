// Ends of sentences, a comma before what is asked about the values that stand before it, and the word "and" before another
// question. Quoted texts have been looked at before, and are kept whole by their spans.
const BREAK =
  /(?<=[.?!;])\s+|,\s+(?=(?:what|how|when|who|where)\b)|,?\s+and\s+(?=(?:what|how|which|when|who|where|is|are|was|does|did)\b)/gi;

export type Span = { start: number; end: number };

const MAX_CLAUSES = 8;

// The parts of a text that may each be a question. `whole` are spans that no break may fall into.
export function clausesOf(text: string, whole: readonly Span[]): Span[] {
  const breaks = [...text.matchAll(BREAK)]
    .map(({ 0: gap, index }) => ({ start: index, end: index + gap.length }))
    .filter((gap) => !whole.some(({ start, end }) => gap.start < end && gap.end > start))
    .slice(0, MAX_CLAUSES - 1);
  const starts = [0, ...breaks.map(({ end }) => end)];
  const ends = [...breaks.map(({ start }) => start), text.length];
  return starts
    .map((start, i) => ({ start, end: ends[i] ?? text.length }))
    .filter(({ start, end }) => text.slice(start, end).trim() !== "");
}
