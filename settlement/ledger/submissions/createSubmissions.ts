import type { Runner } from "../database/transactions/createRunner.ts";
import { createLeased } from "../operators/lease.ts";
import { adoptBatch } from "./adopt/adoptBatch.ts";
import { findSubmission, listMinedAbove, listMinedUpTo, listOpenSubmissions, listUnmined } from "./findSubmission.ts";
import { closeNonce, listOpenNonces } from "./openNonces.ts";
import { abandon } from "./outcome/abandon.ts";
import { finalize } from "./outcome/finalize.ts";
import { recordInclusion } from "./outcome/recordInclusion.ts";
import { recordLoss } from "./outcome/recordLoss.ts";
import { listFinalFrom, listFinalSince, reopen } from "./outcome/reopen.ts";
import { assignNonce } from "./plan/assignNonce.ts";
import { bringForward, listLate, listPartlyLate } from "./plan/bringForward.ts";
import { listDuePayers } from "./plan/listDuePayers.ts";
import { listDueRows } from "./plan/listDueRows.ts";
import { listFailedTools } from "./plan/listFailedTools.ts";
import { planBatch } from "./plan/planBatch.ts";
import { planSubmission } from "./plan/planSubmission.ts";
import { postponeCharges } from "./plan/postponeCharges.ts";
import { saveBroadcast } from "./plan/saveBroadcast.ts";
import { unplanBatch } from "./plan/unplanBatch.ts";

export type Submissions = ReturnType<typeof createSubmissions>;

// From due charges to final ones.
export function createSubmissions(runner: Runner) {
  const { alone, read } = runner;
  const leased = createLeased(runner);
  return {
    planBatch: leased(planBatch),
    planSubmission: leased(planSubmission),
    assignNonce: leased(assignNonce),
    saveBroadcast: leased(saveBroadcast),
    unplanBatch: leased(unplanBatch),
    postponeCharges: leased(postponeCharges),
    recordInclusion: leased(recordInclusion),
    recordLoss: leased(recordLoss),
    finalize: leased(finalize),
    abandon: leased(abandon),
    closeNonce: leased(closeNonce),
    adoptBatch: alone(adoptBatch),
    reopen: alone(reopen),
    listFinalSince: read(listFinalSince),
    listFinalFrom: read(listFinalFrom),
    bringForward: alone(bringForward),
    listDuePayers: read(listDuePayers),
    listLate: read(listLate),
    listPartlyLate: read(listPartlyLate),
    listDueRows: read(listDueRows),
    listFailedTools: read(listFailedTools),
    findSubmission: read(findSubmission),
    listUnmined: read(listUnmined),
    listMinedAbove: read(listMinedAbove),
    listMinedUpTo: read(listMinedUpTo),
    listOpenSubmissions: read(listOpenSubmissions),
    listOpenNonces: read(listOpenNonces),
  };
}
