import { SettlementError } from "../../../settlement/domain/errors.ts";
import type { Budget } from "../../../settlement/domain/payer/budget.ts";
import type { Lease, Ledger } from "../../../settlement/ledger/ledger.ts";
import type { Rng } from "../rng.ts";
import { drawCall } from "./deeds/calls.ts";
import { drawStep } from "./deeds/steps.ts";

const MAX_TOGETHER = 5;

// What one daemon does to the ledger that it shares with others: calls of its clients, several at a time, and what its engine
// would do. Names are few, so that daemons meet; whatever is drawn is drawn before the first statement runs, so that nobody's
// timing changes it.
export type Daemon = {
  ledger: Ledger;
  lease: Lease;
  nowMs: () => number;
  answered: (kind: string) => void;
  // What was done that a deed alone does not show: most of them find nothing to be done to.
  reached: (rarity: Rarity) => void;
  // What payers have signed, as far as the ledger has said that it is kept.
  kept: (budget: Budget) => void;
  // What must never be.
  broken: (what: string) => void;
};
export type Deed = { name: string; run: (daemon: Daemon) => Promise<unknown> };

// What must be reached by some seeds.
export const RARITIES = [
  "a final batch is reopened",
  "a final batch that cannot come back is given up",
  "a root that was on its way is taken in with other rows",
  "a batch that was given up is taken in",
  "charges are postponed",
  "a batch reverts",
  "a budget is used up",
  "a payer's last cent is somebody else's",
  "a payer's credit is used up",
  "a lease that was lost is refused",
  "a key is fenced off and let go on",
  "a row is contested and answered",
  "what is final is archived",
  "an archive is brought back",
] as const;
export type Rarity = (typeof RARITIES)[number];

export function drawDeeds(rng: Rng, count: number): Deed[] {
  return Array.from({ length: count }, () => (rng.happens(0.6) ? drawCalls(rng) : drawStep(rng)));
}

// Calls that arrive together share a commit.
function drawCalls(rng: Rng): Deed {
  const calls = Array.from({ length: rng.between(1, MAX_TOGETHER) }, () => drawCall(rng));
  return {
    name: calls.map(({ name }) => name).join(" + "),
    run: (daemon) =>
      Promise.all(
        calls.map(async ({ run }) => {
          const answers = [await run(daemon)].flat() as ({ kind?: string } | undefined)[];
          for (const answer of answers) if (answer?.kind !== undefined) daemon.answered(answer.kind);
        }),
      ),
  };
}

// What a ledger may refuse, with a reason, in any state: the deed is then without effect.
export function isRefusal(error: unknown): boolean {
  return error instanceof SettlementError && (error.code === "fenced" || error.code === "invalid_input");
}
