import { z } from "zod";
import { formatUsd, microUsdc } from "../../domain/money.ts";
import type { NotedContest } from "../../ledger/ledger.ts";
import { address, count, hash, time, timeOf, usd } from "../shapes.ts";

export const contestSchema = z
  .object({
    batchId: hash,
    payer: address,
    operator: address,
    contester: address,
    chargedUsd: usd,
    notedAt: time,
    // Until when it can be answered.
    until: time,
    state: z.enum(["open", "answered", "lapsed", "undone"]),
    answers: count,
    answer: z
      .object({
        submission: hash,
        state: z.enum(["planned", "submitted", "included", "reverted", "final", "abandoned"]),
        txHash: hash.nullable(),
      })
      .nullable(),
  })
  .meta({ id: "Contest" });

export type ContestView = z.infer<typeof contestSchema>;

export function contestView(contest: NotedContest): ContestView {
  const { answer } = contest;
  return {
    batchId: contest.batchId,
    payer: contest.account,
    operator: contest.operator,
    contester: contest.contester,
    chargedUsd: formatUsd(microUsdc(contest.charged)),
    notedAt: timeOf(contest.notedAtMs),
    until: timeOf(contest.untilMs),
    state: contest.state,
    answers: contest.answers,
    answer: answer === null ? null : { submission: answer.id, state: answer.state, txHash: answer.txHash },
  };
}
