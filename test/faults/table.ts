import { readFileSync, writeFileSync } from "node:fs";
import type { FaultCase, FaultGroup, Observation } from "./faultCase.ts";

export const PAGE = "docs/faults.md";
const MARK = "<!-- Everything below is written by `npm run faults`. -->";
const HEAD = ["#", "fault", "how it was injected", "what must hold", "what happened", "what was lost"];

// What a row says before anything is run.
export const fixedCellsOf = ({ number, fault, injected, claim }: FaultCase): string[] => [
  `${number}`,
  fault,
  injected,
  claim,
];

export function writeTables(groups: readonly FaultGroup[], observations: ReadonlyMap<number, Observation>): void {
  const [introduction] = readFileSync(PAGE, "utf8").split(MARK);
  const tables = groups.map(({ name, cases }) => {
    const rows = cases.map((one) => [...fixedCellsOf(one), ...observedCellsOf(observations.get(one.number))]);
    return [`## ${name}`, "", ...[HEAD, HEAD.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`)].join(
      "\n",
    );
  });
  writeFileSync(PAGE, `${introduction}${MARK}\n\n${tables.join("\n\n")}\n`);
}

function observedCellsOf(observation: Observation | undefined): string[] {
  if (observation === undefined) return ["", ""];
  const { charges, acknowledgedUsd, lost } = observation.books;
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
