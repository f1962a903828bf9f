// The narrowest check that must notice a bug. It is written down as the command that runs it.
export type Check =
  // Tests of one file, or those of them whose name contains some words.
  | { kind: "vitest"; file: string; named: string | null }
  | { kind: "mocha"; file: string }
  // So many seeds. A single one would be quicker, and of no use as soon as anything draws another number.
  | { kind: "simulator"; from: number; seeds: number };

const VITEST = /^vitest run (?<file>\S+)(?: -t "(?<named>[^"]+)")?$/;
const MOCHA = /^hardhat test mocha (?<file>\S+)$/;
const SIMULATOR = /^npm run sim -- --seed (?<from>\d+) --seeds (?<seeds>\d+)$/;

export function readCheck(command: string): Check {
  const vitest = VITEST.exec(command)?.groups;
  if (vitest !== undefined) return { kind: "vitest", file: vitest.file ?? "", named: vitest.named ?? null };
  const mocha = MOCHA.exec(command)?.groups;
  if (mocha !== undefined) return { kind: "mocha", file: mocha.file ?? "" };
  const simulator = SIMULATOR.exec(command)?.groups;
  if (simulator !== undefined) {
    return { kind: "simulator", from: Number(simulator.from), seeds: Number(simulator.seeds) };
  }
  throw new RangeError(
    `no check is called like this: ${command}; write vitest run FILE [-t "WORDS"], hardhat test mocha FILE or npm run sim -- --seed N --seeds N`,
  );
}

export function commandOf(check: Check): string {
  switch (check.kind) {
    case "vitest":
      return `vitest run ${check.file}${check.named === null ? "" : ` -t "${check.named}"`}`;
    case "mocha":
      return `hardhat test mocha ${check.file}`;
    case "simulator":
      return `npm run sim -- --seed ${check.from} --seeds ${check.seeds}`;
  }
}
