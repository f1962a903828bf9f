import type { Found } from "../../discovery/createCatalogue.ts";
import { clausesOf } from "./clausesOf.ts";
import { partOf } from "./planQuestion.ts";
import { rankMethods } from "./rankMethods.ts";
import type { Question } from "./readQuestion.ts";

// How much of a question, or of one of its parts, a method must have words for.
const LEAST_COVERAGE = 0.5;

// The listings that are about a question, by the words of the two alone.
export function listingsAbout(question: Question, found: readonly Found[]): ReadonlySet<string> {
  const parts = clausesOf(question.text, question.values).map((span) => partOf(question, span));
  return new Set(
    [question, ...parts].flatMap((part) =>
      rankMethods(found, part)
        .filter(({ coverage }) => coverage >= LEAST_COVERAGE)
        .map(({ listing }) => listing.toolId),
    ),
  );
}
