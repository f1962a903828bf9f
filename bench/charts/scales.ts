import { decimalSteps, linearScale, type Range, type Scale, SLACK } from "../../settlement/console/app/chart/scale.ts";

const LEADING = [1, 2, 5];
const MAX_TICKS = 6;
const DECIMAL_STEPS = decimalSteps(LEADING);

export const SCALES = {
  linear: (values: readonly number[], range: Range) => linearScale(values, range, MAX_TICKS - 1, DECIMAL_STEPS),
  log: logScale,
  step: stepScale,
};

// From the last round number below the smallest value to the first above the largest. Lines at powers of ten, or at every
// round number where that leaves few.
function logScale(values: readonly number[], { from, to }: Range): Scale {
  const lowest = Math.min(...values);
  const highest = Math.max(...values);
  const first = Math.floor(Math.log10(lowest) + SLACK);
  const decades = Math.ceil(Math.log10(highest) - SLACK) - first + 1;
  const round = Array.from({ length: decades }, (_, i) => 10 ** (first + i)).flatMap((power) =>
    LEADING.map((digit) => digit * power),
  );
  const start = round.findLast((value) => value <= lowest * (1 + SLACK)) ?? lowest;
  const end = round.find((value) => value >= highest * (1 - SLACK) && value > start) ?? 10 * start;
  const inside = round.filter((value) => value >= start && value <= end);
  const powers = inside.filter((value) => value === 10 ** Math.round(Math.log10(value)));
  const place = (value: number) => from + (Math.log10(value / start) / Math.log10(end / start)) * (to - from);
  return { place, ticks: inside.length > MAX_TICKS ? powers : inside };
}

// From the first value to the last, with a tick at each: for the steps of an experiment.
function stepScale(values: readonly number[], { from, to }: Range): Scale {
  const ticks = [...new Set(values)].toSorted((a, b) => a - b);
  const first = ticks[0] ?? 1;
  const width = Math.log10((ticks.at(-1) ?? 10) / first) || 1;
  return { place: (value) => from + (Math.log10(value / first) / width) * (to - from), ticks };
}
