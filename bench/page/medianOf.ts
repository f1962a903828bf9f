// The median of each value by itself. They need not be of the same run: a ratio is the median ratio.
export function medianOf<T extends Record<string, number>>(runs: readonly T[]): T {
  const names = Object.keys(runs[0] ?? {});
  return Object.fromEntries(
    names.map((name) => [
      name,
      runs.map((run) => run[name] ?? 0).toSorted((a, b) => a - b)[Math.floor(runs.length / 2)],
    ]),
  ) as T;
}
