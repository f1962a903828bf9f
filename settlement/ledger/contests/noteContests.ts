import type { Contest } from "../../domain/batch/contest.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validAmount, validHash, validTime } from "../validate.ts";

const byName = (one: Contest, other: Contest) =>
  `${one.batchId} ${one.account}` < `${other.batchId} ${other.account}` ? -1 : 1;

// Remembers what was contested; again without effect. Returns what is new. One that is mined again after a reorg has another
// block and another end, and is open if it was taken for undone. What has come to its end stays there.
export function noteContests(contests: readonly Contest[], nowMs: number) {
  validTime("now", nowMs);
  const valid = contests
    .map((contest) => ({
      ...contest,
      batchId: validHash("the batch", contest.batchId),
      account: validAddress("the account", contest.account),
      operator: validAddress("the operator", contest.operator),
      contester: validAddress("who contests", contest.contester),
      charged: validAmount("what was charged", contest.charged),
      untilMs: validTime("the end", contest.untilMs),
    }))
    .sort(byName);
  return async (tx: Tx): Promise<Contest[]> => {
    const noted: Contest[] = [];
    for (const contest of valid) {
      const { batchId, account, operator, contester, charged, untilMs, lines, blockNumber } = contest;
      const written = await tx.run(
        `INSERT INTO contests (batch_id, account, operator, contester, charged, until_at, lines, block_number, noted_at, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'open')
         ON CONFLICT (batch_id, account) DO UPDATE SET operator = excluded.operator, contester = excluded.contester,
           charged = excluded.charged, until_at = excluded.until_at, lines = excluded.lines,
           block_number = excluded.block_number, state = 'open'
         WHERE contests.state IN ('open', 'undone') AND (contests.block_number <> excluded.block_number
           OR contests.until_at <> excluded.until_at)`,
        [batchId, account, operator, contester, charged, untilMs, linesToJson(lines), blockNumber, nowMs],
      );
      if (written > 0) noted.push(contest);
    }
    return noted;
  };
}

const linesToJson = (lines: Contest["lines"]) =>
  JSON.stringify(lines.map(({ toolId, amount }) => [toolId, `${amount}`]));
