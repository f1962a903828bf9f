import { readFileSync, writeFileSync } from "node:fs";
import type { FaultCase, FaultGroup, Observation } from "../cases/faultCase.ts";

export const PAGE = "docs/faults.md";
const MARK = "<!-- Everything below is written by `npm run faults`. -->";
const HEAD = ["#", "fault", "how it was injected", "what must hold", "what happened", "what was lost"];
// What happened, and what was lost.
const OBSERVED_CELLS = 2;

// What a row says before anything is run.
export const fixedCellsOf = ({ number, fault, injected, claim }: FaultCase): string[] => [
  `${number}`,
  fault,
  injected,
  claim,
];

// What was not run now keeps what the page says of it.
export function writeTables(groups: readonly FaultGroup[], observations: ReadonlyMap<number, Observation>): void {
  const before = new Map(readTables().map(([number, ...cells]) => [Number(number), cells.slice(-OBSERVED_CELLS)]));
  const [introduction] = readFileSync(PAGE, "utf8").split(MARK);
  const tables = groups.map(({ name, cases }) => {
    const rows = cases.map((one) => [
      ...fixedCellsOf(one),
      ...(observedCellsOf(observations.get(one.number)) ?? before.get(one.number) ?? ["", ""]),
    ]);
    return [`## ${name}`, "", ...[HEAD, HEAD.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`)].join(
      "\n",
    );
  });
  writeFileSync(PAGE, `${introduction}${MARK}\n\n${tables.join("\n\n")}\n`);
}

function observedCellsOf(observation: Observation | undefined): string[] | undefined {
  if (observation === undefined) return undefined;
  const { charges, acknowledgedUsd, lost } = observation.balances;
  return [observation.happened, `${lost}, of ${charges} charges and ${acknowledgedUsd} USDC`];
}

// The cells of every row on the page.
export function readTables(): string[][] {
  return readFileSync(PAGE, "utf8")
    .split("\n")
    .filter((line) => /^\| *\d/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}
