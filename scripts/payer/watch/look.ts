import type { IReceiptCourt } from "../../../typechain-types/contracts/court/ReceiptCourt.ts";
import { isUnreachable } from "../../command/isUnreachable.ts";
import type { Deployment } from "../../command/openDeployment.ts";
import type { Session } from "../../command/session.ts";
import { type Found, findRows, type HiddenBatch, type PaidRow } from "../../receipts/findRows.ts";
import type { KeptReceipts } from "../../receipts/keptReceipts.ts";
import { type Domain, isInBatch, type Leaf, leavesOf } from "../../receipts/receipts.ts";
import type { AskReceipts } from "./askReceipts.ts";
import { type DoubleState, examineDoubles, type SeenDouble } from "./examineDoubles.ts";
import { type Double, findDoubles } from "./findDoubles.ts";
import { type Finding, judgeRow } from "./judgeRow.ts";
import { paidCharge } from "./proveDouble.ts";
import { readShown } from "./readShown.ts";

// In the order of IReceiptCourt.Stage.
export const STAGES = ["none", "contested", "answered", "refunded"] as const;
export type Stage = (typeof STAGES)[number];

// A row as the payer sees it: what was charged, what is wrong with it, and where it stands in court. `silent` says why nobody
// showed receipts, which is a verdict on the marketplace and not on the row.
export type SeenRow = PaidRow & {
  findings: Finding[];
  silent: string | null;
  receipts: number;
  stage: Stage;
  until: bigint;
  // What is still to be given back of a refunded row.
  owed: bigint;
};

export type Sight = { rows: SeenRow[]; doubles: SeenDouble[]; hidden: HiddenBatch[] };

export type Watching = {
  session: Session;
  deployment: Deployment;
  payer: string;
  fromBlock: number;
  known: Map<string, Found>;
  kept: KeptReceipts;
  // What is worth demanding.
  least: bigint;
};

// Looks at all that a payer was charged: what the chain says, compared with the receipts that somebody shows.
export async function look(watching: Watching, askReceipts: AskReceipts): Promise<Sight> {
  const { session, deployment, payer } = watching;
  const domain: Domain = { chainId: session.chainId, router: deployment.addresses.router };
  const { rows: found, hidden } = await findRows(session, deployment, watching);
  const rows: SeenRow[] = [];
  const paid: (Leaf & { row: PaidRow })[] = [];
  for (const row of found) {
    const contest = await deployment.receiptCourt.contestOf(row.batchId, payer);
    const stage = STAGES[Number(contest.stage)] ?? "none";
    const { leaves, silent } = await readLeaves(watching, domain, row, stage, askReceipts);
    const judged = silent === null ? judgeRow(row, payer, leaves, deployment.record.parties.insurance) : null;
    rows.push({
      ...row,
      findings: judged?.findings ?? [],
      silent,
      receipts: judged?.leaves.length ?? 0,
      stage,
      until: contest.until,
      owed: owedOf(contest, stage),
    });
    // A row that was given back counts as no payment.
    if (stage !== "refunded") paid.push(...(judged?.leaves ?? []).map((leaf) => ({ ...leaf, row })));
  }
  const doubles = await examineDoubles(findDoubles(paid), watching.least, (double) => stateOf(deployment, double));
  return { rows, doubles, hidden };
}

function owedOf({ charged, accounted }: IReceiptCourt.ContestStructOutput, stage: Stage): bigint {
  return stage === "refunded" && charged > accounted ? charged - accounted : 0n;
}

// The receipts of a row from whoever shows them: the court if the operator has answered there, the payer's own folder, the
// marketplace.
async function readLeaves(
  { session, deployment, payer, kept }: Watching,
  domain: Domain,
  row: PaidRow,
  stage: Stage,
  askReceipts: AskReceipts,
): Promise<{ leaves: Leaf[]; silent: string | null }> {
  const { batchId } = row;
  if (stage === "answered") {
    const leaves = await readShown(session, deployment, domain, payer, row);
    if (leaves.length > 0) return { leaves, silent: null };
  }
  const own = kept.read(batchId);
  if (own !== null) {
    const leaves = leavesOf(domain, own);
    if (leaves.every((leaf) => isInBatch(batchId, leaf))) return { leaves, silent: null };
  }
  const asked = await askReceipts(batchId);
  if (asked.kind === "silent") return { leaves: [], silent: asked.reason };
  if (asked.kind === "none") return { leaves: [], silent: null };
  const leaves = leavesOf(domain, asked.answer);
  const { findings } = judgeRow(row, payer, leaves, deployment.record.parties.insurance);
  if (findings.length === 0) kept.keep(batchId, asked.answer);
  return { leaves, silent: null };
}

// What the court would say to a proof. It may refuse one for reasons that are the operator's to arrange, and then the others are
// still to be looked at.
async function stateOf({ receiptCourt }: Deployment, { kept, doubled }: Double): Promise<DoubleState> {
  try {
    await receiptCourt.proveDoubleCharge.staticCall(paidCharge(kept), paidCharge(doubled));
    return "provable";
  } catch (error) {
    if (isUnreachable(error)) throw error;
    const { data } = error as { data?: unknown };
    const name = typeof data === "string" ? receiptCourt.interface.parseError(data)?.name : undefined;
    if (name === "AlreadyRefunded") return "given back";
    return name === "WindowClosed" ? "too late" : "not provable";
  }
}
