import type { Check } from "./check.ts";
import { locateCheck } from "./locateCheck.ts";
import { findPlace, type Place } from "./place/findPlace.ts";
import { tokenize } from "./place/tokenize.ts";
import type { Code } from "./readCode.ts";
import type { Mutation } from "./readMutations.ts";

// A bug in the code of today: what its file says without and with it, and where its check is.
export type Mutant = { mutation: Mutation; file: string; before: string; after: string; caughtBy: Check };

// What cannot be put into the code any more would be caught by nothing, and what names something that is gone would be
// caught for that alone.
export function mutate(mutation: Mutation, { sources, tests }: Code): Mutant {
  try {
    const place = findPlace(mutation.change, sources);
    const missing = missingNames(place, mutation.brings);
    if (missing.length > 0) {
      throw new RangeError(
        `it names ${missing.join(", ")}, which ${place.source.file} does not; call it as the code does, or add it to brings`,
      );
    }
    const { source, from, to, text } = place;
    const after = source.text.slice(0, from) + text + source.text.slice(to);
    return { mutation, file: source.file, before: source.text, after, caughtBy: locateCheck(mutation.caughtBy, tests) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new RangeError(`"${mutation.bug}" cannot be tried: ${reason}; adjust ${mutation.path}`);
  }
}

function missingNames({ source, text }: Place, brings: readonly string[]): string[] {
  const known = new Set([...brings, ...source.tokens.map((token) => token.text)]);
  const names = tokenize(text).filter(({ kind }) => kind === "name");
  return [...new Set(names.map((token) => token.text))].filter((name) => !known.has(name));
}
