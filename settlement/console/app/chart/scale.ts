// From a value to a place, and the values that deserve a line of the grid.
export type Scale = { place: (value: number) => number; ticks: readonly number[] };

export type Range = { from: number; to: number };

// The first size of a step that reads well and is not below the least one.
export type StepOf = (least: number) => number;

// Against what is lost when numbers are divided, or a logarithm is taken and undone.
export const SLACK = 1e-9;

// Steps of so many tenths, ones, tens and so on.
export function decimalSteps(leading: readonly number[]): StepOf {
  return (least) => {
    const power = 10 ** Math.floor(Math.log10(least));
    return power * (leading.find((digits) => digits * power >= least * (1 - SLACK)) ?? 10);
  };
}

// From zero to the first step that is not below the largest value, in no more steps than asked for. Without any value it
// ends at one.
export function linearScale(values: readonly number[], { from, to }: Range, steps: number, stepOf: StepOf): Scale {
  const highest = Math.max(0, ...values) || 1;
  const step = stepOf(highest / steps);
  const count = Math.ceil(highest / step - SLACK);
  const place = (value: number) => from + (value / (step * count)) * (to - from);
  return { place, ticks: Array.from({ length: count + 1 }, (_, i) => i * step) };
}
