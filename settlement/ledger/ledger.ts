import type { Archives } from "./archive/createArchives.ts";
import type { withArchive } from "./archive/withArchive.ts";
import type { Budgets } from "./budgets/createBudgets.ts";
import type { Callers } from "./callers/createCallers.ts";
import type { Contests } from "./contests/createContests.ts";
import type { Operators } from "./operators/createOperators.ts";
import type { Token } from "./token/createToken.ts";
import type { Tools } from "./tools/createTools.ts";

// The durable memory of the service. A promise that resolves means that what it says is on disk. Every verb is one
// transaction; verbs that run at the same time may share one (group commit). Addresses may be given in any case and come
// back in lower case.
export type Ledger = ReturnType<typeof withArchive> &
  Archives &
  Budgets &
  Operators &
  Callers &
  Contests &
  Token &
  Tools & {
    close(): Promise<void>;
  };

// What callers of the verbs write down.
export type { TurnOutcome } from "./accruals/recordTurn.ts";
export type { Archive } from "./archive/listArchives.ts";
export type { ArchiveLimits } from "./archive/selectBlocks.ts";
export type { Carried } from "./budgets/noteCarried.ts";
export type { Answer } from "./callers/saveAnswer.ts";
export type { ContestOrder, NotedContest } from "./contests/listContests.ts";
export type { Lease } from "./operators/lease.ts";
export type { SettledBatch } from "./reads/batches.ts";
export type { ToolEarnings } from "./reads/earnings.ts";
export type { Backlog } from "./reads/readBacklog.ts";
export type { FlushPolicy } from "./sessions/capture.ts";
export type { Adoption, FoundBatch, TakenLine } from "./submissions/adopt/adoptBatch.ts";
export type { Mined, OpenSubmission } from "./submissions/findSubmission.ts";
export type { RetryPolicy } from "./submissions/outcome/failCharges.ts";
export type { FinalSubmission, Reopening } from "./submissions/outcome/reopen.ts";
export type { DuePayer } from "./submissions/plan/listDuePayers.ts";
export type { DueRow } from "./submissions/plan/listDueRows.ts";
export type { Part } from "./submissions/plan/takeDue.ts";
