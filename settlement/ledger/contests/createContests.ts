import type { Runner } from "../database/transactions/createRunner.ts";
import { createLeased } from "../operators/lease.ts";
import { closeContest } from "./closeContest.ts";
import { dropAnswer } from "./dropAnswer.ts";
import { listContests, listOpenContests } from "./listContests.ts";
import { noteContests } from "./noteContests.ts";
import { planAnswer } from "./planAnswer.ts";

export type Contests = ReturnType<typeof createContests>;

// Rows that somebody demands receipts for, and what was done about it.
export function createContests(runner: Runner) {
  const { alone, read } = runner;
  const leased = createLeased(runner);
  return {
    noteContests: alone(noteContests),
    planAnswer: leased(planAnswer),
    dropAnswer: leased(dropAnswer),
    closeContest: leased(closeContest),
    listOpenContests: read(listOpenContests),
    listContests: read(listContests),
  };
}
