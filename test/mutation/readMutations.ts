import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Check, readCheck } from "./check.ts";
import { readPatch } from "./patch.ts";
import type { Change } from "./place/cutChange.ts";

// A bug that somebody could have written, as a change of one place, and the narrowest check that must notice it.
export type Mutation = {
  subject: string;
  // Of its patch, below the root.
  path: string;
  bug: string;
  change: Change;
  brings: readonly string[];
  caughtBy: Check;
};

export const PATCHES = "test/mutation/patches";

// In the order of the page: from the contracts outwards.
const SUBJECTS = ["contracts", "court", "ledger", "engine", "chain", "daemon", "marketplace", "scripts"];

export function readMutations(root: string): Mutation[] {
  // Below a subject, a folder for each file that bugs are put into keeps them findable; what is found does not hang on it.
  const subjects = globSync("*", { cwd: join(root, PATCHES) });
  const unknown = subjects.filter((subject) => !SUBJECTS.includes(subject));
  if (unknown.length > 0) throw new RangeError(`${PATCHES} has ${unknown.join(", ")}, which the page has no place for`);
  return SUBJECTS.flatMap((subject) =>
    globSync(`${subject}/**/*.patch`, { cwd: join(root, PATCHES) })
      .sort()
      .map((file) => readMutation(root, subject, `${PATCHES}/${file}`)),
  );
}

function readMutation(root: string, subject: string, path: string): Mutation {
  try {
    const { caughtBy, ...patch } = readPatch(readFileSync(join(root, path), "utf8"));
    return { subject, path, ...patch, caughtBy: readCheck(caughtBy) };
  } catch (error) {
    throw new RangeError(`${path}: ${error instanceof Error ? error.message : error}`);
  }
}
