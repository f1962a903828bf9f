import type { Address, Hex } from "viem";
import type { Contest, ContestState } from "../../domain/batch/contest.ts";
import type { SubmissionState } from "../../domain/batch/submission.ts";
import { address, count, hex, integer, text } from "../database/decode.ts";
import type { Reader, Row } from "../database/sql.ts";
import { lower, validCount } from "../validate.ts";

// A contest, and its newest answer, if it was answered.
export type NotedContest = Contest & {
  state: ContestState;
  notedAtMs: number;
  answers: number;
  answer: { id: Hex; state: SubmissionState["kind"]; txHash: Hex | null; blockNumber: bigint | null } | null;
};

const CONTESTS = `SELECT c.*, s.state AS answer_state, s.tx_hash AS answer_tx_hash, s.block_number AS answer_block
  FROM contests c LEFT JOIN submissions s ON s.id = c.answer_id`;

const ORDERS = { ending: "c.until_at, c.batch_id, c.account", largest: "c.charged DESC, c.batch_id, c.account" };

export type ContestOrder = keyof typeof ORDERS;

// Against an operator, those that end first first, or those first that most was charged for.
export function listOpenContests(operator: Address, limit: number, offset = 0, order: ContestOrder = "ending") {
  const page = [validCount("the limit", limit), validCount("the offset", offset)];
  return async (sql: Reader): Promise<NotedContest[]> => {
    const rows = await sql.all(
      `${CONTESTS} WHERE c.operator = $1 AND c.state = 'open' ORDER BY ${ORDERS[order]} LIMIT $2 OFFSET $3`,
      [lower(operator), ...page],
    );
    return rows.map(contestFrom);
  };
}

// Of all operators, newest first.
export function listContests(limit: number, offset: number) {
  const page = [validCount("the limit", limit), validCount("the offset", offset)];
  return async (sql: Reader): Promise<NotedContest[]> => {
    const rows = await sql.all(
      `${CONTESTS} ORDER BY c.noted_at DESC, c.batch_id DESC, c.account DESC LIMIT $1 OFFSET $2`,
      page,
    );
    return rows.map(contestFrom);
  };
}

function contestFrom(row: Row): NotedContest {
  return {
    batchId: hex(row, "batch_id"),
    account: address(row, "account"),
    operator: address(row, "operator"),
    contester: address(row, "contester"),
    charged: integer(row, "charged"),
    untilMs: count(row, "until_at"),
    lines: (JSON.parse(text(row, "lines")) as [Hex, string][]).map(([toolId, amount]) => ({
      toolId,
      amount: BigInt(amount),
    })),
    blockNumber: integer(row, "block_number"),
    notedAtMs: count(row, "noted_at"),
    state: text(row, "state") as ContestState,
    answers: count(row, "answers"),
    answer:
      row.answer_id === null || row.answer_state === null
        ? null
        : {
            id: hex(row, "answer_id"),
            state: text(row, "answer_state") as SubmissionState["kind"],
            txHash: row.answer_tx_hash === null ? null : hex(row, "answer_tx_hash"),
            blockNumber: row.answer_block === null ? null : integer(row, "answer_block"),
          },
  };
}
