import { formatUsd, microUsdc } from "../../../settlement/domain/money.ts";
import { formatTime } from "../../command/format.ts";
import type { Json, Output, Row } from "../../command/output.ts";
import type { Terms } from "./act.ts";
import type { SeenDouble } from "./examineDoubles.ts";
import type { SeenRow, Sight } from "./look.ts";

const usd = (amount: bigint) => formatUsd(microUsdc(amount));

// Says of each batch what is right or wrong, and says it again only when that has changed.
export function createTeller(output: Output, terms: Terms) {
  const told = new Map<string, string>();
  const tellOnce = (key: string, sentence: string, rows: Row[]) => {
    const text = JSON.stringify(rows);
    if (told.get(key) === text) return;
    told.set(key, text);
    output.say(sentence);
    output.rows(rows);
  };
  return {
    tell({ rows, doubles, hidden }: Sight, now: bigint): void {
      for (const row of rows) {
        tellOnce(row.batchId, `Batch ${row.batchId} of ${formatTime(row.settledAt)}, transaction ${row.transaction}`, [
          ["charged", `${usd(row.charged)} USDC`],
          ...verdictOf(row),
          ...courtOf(row, now, terms),
        ]);
      }
      for (const double of doubles) {
        const { chargeId, doubled, state } = double;
        tellOnce(`${chargeId} ${doubled.leaf}`, `Charge ${chargeId} was paid again in batch ${doubled.row.batchId}`, [
          ["charged", `${usd(doubled.receipt.amount)} USDC`],
          ["verdict", isGivenBack(double) ? "paid twice" : "wrong: paid twice"],
          ["court", DOUBLE_STATES[state]],
        ]);
      }
      for (const { batchId, transaction } of hidden) {
        tellOnce(
          batchId ?? transaction,
          `${batchId === null ? "A batch" : `Batch ${batchId}`}, transaction ${transaction}`,
          [["verdict", "wrong: this node does not say how it was settled; ask one that traces transactions"]],
        );
      }
    },
  };
}

const DOUBLE_STATES: Record<SeenDouble["state"], string> = {
  provable: "it can be proven: add --contest",
  "given back": "given back",
  "too late": "too late to prove it",
  "not provable": "the court does not take the proof now",
  "too small": "it is less than what a proof is worth: see --least",
  "two operators": "two operators charged it, which no court decides: demand consent",
};

const isGivenBack = ({ state }: SeenDouble) => state === "given back";

function verdictOf({ findings, silent, receipts, stage }: SeenRow): Row[] {
  if (silent !== null) return [["verdict", `unknown: no receipts, the marketplace is silent: ${silent}`]];
  if (findings.length === 0) {
    return [["verdict", `right: ${receipts === 1 ? "1 receipt adds" : `${receipts} receipts add`} up to it`]];
  }
  const word = stage === "refunded" ? "was wrong" : "wrong";
  return findings.map(({ sentence }, i) => [i === 0 ? "verdict" : "", i === 0 ? `${word}: ${sentence}` : sentence]);
}

function courtOf(
  { stage, until, owed, settledAt, findings, silent, charged }: SeenRow,
  now: bigint,
  { contest, least }: Terms,
): Row[] {
  switch (stage) {
    case "contested":
      return [["court", now < until ? `contested, the operator can answer until ${formatTime(until)}` : "unanswered"]];
    case "answered":
      return [["court", "the operator has shown receipts"]];
    case "refunded":
      return [
        ["court", owed > 0n ? `given back but for ${usd(owed)} USDC, which the bond could not pay` : "given back"],
      ];
    default: {
      if (findings.length === 0 && silent === null) return [];
      if (silent === null && !findings.some(({ contestable }) => contestable)) {
        return [["court", "it has receipts, so no court gives it back: demand consent"]];
      }
      if (charged < least) return [["court", `it is less than ${usd(least)} USDC and so not contested: see --least`]];
      const end = settledAt + contest;
      return [["court", now < end ? `it can be contested until ${formatTime(end)}` : "too late to contest it"]];
    }
  }
}

// Whether nothing is left to be done: what was wrong was given back.
const isRowInOrder = ({ findings, silent, stage, owed }: SeenRow) =>
  stage === "refunded" ? owed === 0n : stage !== "contested" && findings.length === 0 && silent === null;

export const isInOrder = ({ rows, doubles, hidden }: Sight): boolean =>
  rows.every(isRowInOrder) && doubles.every(isGivenBack) && hidden.length === 0;

const IN_ORDER = ["Nothing was charged.", "The one batch is in order."];

export function summaryOf({ rows, doubles, hidden }: Sight, contests: boolean): string {
  const total = rows.length + hidden.length;
  const batches = `${total} ${total === 1 ? "batch" : "batches"}`;
  const wrong = rows.filter((row) => !isRowInOrder(row)).length + hidden.length;
  const twice = doubles.filter((double) => !isGivenBack(double)).length;
  if (wrong + twice === 0) return IN_ORDER[total] ?? `All ${batches} are in order.`;
  const open = [
    ...(wrong > 0 ? [`${wrong} of ${batches} ${wrong === 1 ? "is" : "are"} not in order`] : []),
    ...(twice > 0 ? [`${twice} ${twice === 1 ? "charge was" : "charges were"} paid twice`] : []),
  ].join(" and ");
  return `${open}: ${contests ? "run watch --contest again until it is" : "demand it back with watch --contest"}`;
}

export function documentOf(
  payer: string,
  { rows, doubles, hidden }: Sight,
  failed: readonly string[],
): { [key: string]: Json } {
  return {
    payer,
    inOrder: isInOrder({ rows, doubles, hidden }),
    batches: rows.map((row) => ({
      batchId: row.batchId,
      transaction: row.transaction,
      operator: row.operator,
      settledAt: row.settledAt.toString(),
      chargedUsd: usd(row.charged),
      receipts: row.receipts,
      verdict: row.silent !== null ? "unknown" : row.findings.length === 0 ? "right" : "wrong",
      findings: row.silent !== null ? [row.silent] : row.findings.map(({ sentence }) => sentence),
      court: row.stage,
      owedUsd: usd(row.owed),
    })),
    doubles: doubles.map(({ chargeId, kept, doubled, state }) => ({
      charge: chargeId,
      amountUsd: usd(doubled.receipt.amount),
      first: kept.row.batchId,
      again: doubled.row.batchId,
      court: state,
    })),
    hidden: hidden.map(({ batchId, transaction }) => ({ batchId, transaction })),
    // What was demanded in vain.
    failed: [...failed],
  };
}
