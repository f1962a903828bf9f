import type { Runner } from "../database/transactions/createRunner.ts";
import { clearDebt } from "./clearDebt.ts";
import { collect } from "./collect.ts";
import { holdTurn } from "./holdTurn.ts";
import { listExposures } from "./listExposures.ts";
import { listOwing } from "./listOwing.ts";
import { readExposures } from "./readExposures.ts";
import { checkTurns, type MaybeArchivedTurn, type Report, recordTurns, type TurnOutcome } from "./recordTurn.ts";
import { sweepTurnHolds } from "./sweepTurnHolds.ts";
import { findTurnHold } from "./turnHolds.ts";
import { voidTurn } from "./voidTurn.ts";

export type Accruals = ReturnType<typeof createAccruals>;

// What is delivered becomes charges, and what payers owe by them. What a turn may cost is held before it runs.
export function createAccruals({ shared, sharedInBulk, alone, read }: Runner) {
  // In the order of their names, whoever reports them.
  const recordAll = sharedInBulk(
    checkTurns,
    recordTurns,
    "recorded",
    (turns) => ({ lock: "turns", payers: turns.map(({ turn }) => turn.payer) }),
    (turns) => turns.length,
  );
  return {
    recordTurns: recordAll,
    async recordTurn(report: Report, nowMs: number): Promise<TurnOutcome | MaybeArchivedTurn> {
      const [outcome] = await recordAll([report], nowMs);
      return outcome as TurnOutcome | MaybeArchivedTurn;
    },
    holdTurn: shared(holdTurn, "held"),
    voidTurn: shared(voidTurn, "voided"),
    sweepTurnHolds: alone(sweepTurnHolds),
    findTurnHold: read(findTurnHold),
    clearDebt: alone(clearDebt),
    collect: alone(collect),
    readExposures: read(readExposures),
    listExposures: read(listExposures),
    listOwing: read(listOwing),
  };
}
