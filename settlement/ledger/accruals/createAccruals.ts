import type { Runner } from "../database/createRunner.ts";
import { clearDebt } from "./clearDebt.ts";
import { collect } from "./collect.ts";
import { listExposures } from "./listExposures.ts";
import { listOwing } from "./listOwing.ts";
import { readExposures } from "./readExposures.ts";
import { checkTurn, recordTurns } from "./recordTurn.ts";

export type Accruals = ReturnType<typeof createAccruals>;

// What is delivered becomes charges, and what payers owe by them.
export function createAccruals({ sharedInBulk, alone, read }: Runner) {
  return {
    recordTurn: sharedInBulk(checkTurn, recordTurns, "recorded", ({ turn }) => ({
      lock: "turns",
      name: turn.id,
      payers: [turn.payer],
    })),
    clearDebt: alone(clearDebt),
    collect: alone(collect),
    readExposures: read(readExposures),
    listExposures: read(listExposures),
    listOwing: read(listOwing),
  };
}
