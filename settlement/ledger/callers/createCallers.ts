import type { Runner } from "../database/transactions/createRunner.ts";
import { claimKey } from "./claimKey.ts";
import { forgetAnswers } from "./forgetAnswers.ts";
import { releaseKey } from "./releaseKey.ts";
import { saveAnswer } from "./saveAnswer.ts";

export type Callers = ReturnType<typeof createCallers>;

// What callers asked for under a key of theirs, and what was answered.
export function createCallers({ shared, alone }: Runner) {
  return {
    claimKey: shared(claimKey, "claimed", "running"),
    releaseKey: shared(releaseKey),
    saveAnswer: shared(saveAnswer),
    forgetAnswers: alone(forgetAnswers),
  };
}
