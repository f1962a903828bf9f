// From a value to a place, and the values that deserve a line of the grid.
export type Scale = { place: (value: number) => number; ticks: readonly number[] };

export type Range = { from: number; to: number };

const ROUND = [1, 2, 5, 10];
const MAX_TICKS = 6;
// Against what is lost when a logarithm is taken and undone.
const SLACK = 1e-9;

// From the last round number below the smallest value to the first above the largest. Lines at powers of ten, or at every
// round number where that leaves few.
export function logScale(values: readonly number[], { from, to }: Range): Scale {
  const lowest = Math.min(...values);
  const highest = Math.max(...values);
  const first = Math.floor(Math.log10(lowest) + SLACK);
  const decades = Math.ceil(Math.log10(highest) - SLACK) - first + 1;
  const round = Array.from({ length: decades }, (_, i) => 10 ** (first + i)).flatMap((power) =>
    ROUND.slice(0, 3).map((step) => step * power),
  );
  const start = round.findLast((value) => value <= lowest * (1 + SLACK)) ?? lowest;
  const end = round.find((value) => value >= highest * (1 - SLACK) && value > start) ?? 10 * start;
  const inside = round.filter((value) => value >= start && value <= end);
  const powers = inside.filter((value) => ROUND[0] === value / 10 ** Math.round(Math.log10(value)));
  const place = (value: number) => from + (Math.log10(value / start) / Math.log10(end / start)) * (to - from);
  return { place, ticks: inside.length > MAX_TICKS ? powers : inside };
}

// From zero to the first round number above the largest value.
export function linearScale(values: readonly number[], { from, to }: Range): Scale {
  const highest = Math.max(...values, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(highest / (MAX_TICKS - 1)));
  const step = (ROUND.find((candidate) => candidate * power * (MAX_TICKS - 1) >= highest) ?? 10) * power;
  const count = Math.ceil(highest / step - SLACK);
  const place = (value: number) => from + (value / (step * count)) * (to - from);
  return { place, ticks: Array.from({ length: count + 1 }, (_, i) => i * step) };
}

// From the first value to the last, with a tick at each: for the steps of an experiment.
export function stepScale(values: readonly number[], { from, to }: Range): Scale {
  const ticks = [...new Set(values)].toSorted((a, b) => a - b);
  const first = ticks[0] ?? 1;
  const width = Math.log10((ticks.at(-1) ?? 10) / first) || 1;
  return { place: (value) => from + (Math.log10(value / first) / width) * (to - from), ticks };
}
