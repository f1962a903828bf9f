import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandOf } from "./check.ts";
import type { Mutant } from "./mutate.ts";
import { readPatch, writePatch } from "./patch.ts";
import { findPlace } from "./place/findPlace.ts";
import type { Code } from "./readCode.ts";

// As git does, and as many more as it takes to tell the place from others.
const CONTEXT_LINES = 3;
const MAX_CONTEXT_LINES = 30;

// Writes the patches of the mutants that are no longer word for word what the code says. Tells how many these were. The
// number of a line alone is no reason: git finds it, and two people who refresh would be in conflict about it.
export function refresh(root: string, mutants: readonly Mutant[], code: Code): number {
  const withoutNumbers = (patch: string) => patch.replace(/^@@ .*$/m, "@@");
  return mutants.filter((mutant) => {
    const path = join(root, mutant.mutation.path);
    const text = refreshed(mutant, code);
    if (withoutNumbers(readFileSync(path, "utf8")) === withoutNumbers(text)) return false;
    writeFileSync(path, text);
    return true;
  }).length;
}

function refreshed({ mutation: { bug, brings }, file, before, after, caughtBy }: Mutant, { sources }: Code): string {
  for (let lines = CONTEXT_LINES; lines <= MAX_CONTEXT_LINES; lines += 1) {
    const text = writePatch({ bug, caughtBy: commandOf(caughtBy), brings }, { file, before, after }, lines);
    try {
      findPlace(readPatch(text).change, sources);
      return text;
    } catch {
      // It is ambiguous with so few lines.
    }
  }
  throw new RangeError(`"${bug}" is ambiguous with ${MAX_CONTEXT_LINES} lines around it`);
}
