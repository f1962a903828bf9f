import type { Finished } from "./runProgram.ts";

// What one check has found: how much of it holds, and what does not, one line for each.
export type Outcome = { passed: number; failures: string[] };

// `npm run lint`, `npm run types`, `npm run test:contracts` and `npm run test:service` are the groups, `npm test` is all.
export const GROUPS = ["lint", "types", "contracts", "service"] as const;

export type Group = (typeof GROUPS)[number];

export type Check = {
  name: string;
  groups: readonly Group[];
  // The check that must have ended before this one starts, if it runs at all.
  after?: string;
  // How many cores it keeps busy, out of so many.
  cores: (available: number) => number;
  // Whether it is shown as it goes, as whatever takes all cores is. The others are shown when they end, and not in the middle of
  // this one, so that no two are mixed. No two of these run at a time.
  isShownLive?: boolean;
  run: (start: Start, print: (text: string) => void) => Promise<Outcome>;
};

// Starts a program of node_modules/.bin.
export type Start = (file: string, ...args: string[]) => Promise<Finished>;
