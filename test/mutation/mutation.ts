// A bug that somebody could have written, as a change of one place, and the narrowest check that has to notice it.
export type Mutation = {
  // A sentence about what the system then does.
  bug: string;
  file: string;
  // Stands exactly once in the file.
  find: string;
  replace: string;
  caughtBy: Check;
};

export type Check =
  | { kind: "vitest"; file: string; named: string | null }
  | { kind: "mocha"; file: string }
  | { kind: "simulator"; from: number; seeds: number };

// Tests of one file, or those of them whose name contains some words.
export const vitest = (file: string, named: string | null = null): Check => ({ kind: "vitest", file, named });

// Tests of the contracts, by their path below test/contracts.
export const mocha = (file: string): Check => ({ kind: "mocha", file: `test/contracts/${file}` });

// So many seeds of the simulator. A single one would be quicker, and of no use as soon as anything draws another number.
export const simulator = (seeds: number): Check => ({ kind: "simulator", from: 1, seeds });

// The file's text with the bug in it. What cannot be put into the text any more would be caught by nothing.
export function applied({ bug, file, find, replace }: Mutation, text: string): string {
  const parts = text.split(find);
  if (parts.length !== 2) {
    throw new RangeError(
      `"${bug}": its text stands ${parts.length - 1} times in ${file}; the code changed, adjust the mutation`,
    );
  }
  if (find === replace) throw new RangeError(`"${bug}": it changes nothing in ${file}`);
  return parts.join(replace);
}

export function nameOf(check: Check): string {
  switch (check.kind) {
    case "vitest":
      return `vitest run ${check.file}${check.named === null ? "" : ` -t "${check.named}"`}`;
    case "mocha":
      return `hardhat test mocha ${check.file}`;
    case "simulator":
      return `npm run sim -- --seed ${check.from} --seeds ${check.seeds}`;
  }
}
