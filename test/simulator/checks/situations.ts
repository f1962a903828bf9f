import type { Reader } from "../../../settlement/ledger/database/sql.ts";

// Situations in which settlement can go wrong, as the ledger shows them when a run is over. A fault that is injected need
// not lead anywhere; these say how far the runs really got.
const SITUATIONS = {
  "a lease is taken over": "SELECT 1 FROM operators WHERE token > 1",
  "a gap in the nonces is filled": "SELECT 1 FROM submissions WHERE kind = 'filler' AND state = 'final'",
  "credits are pushed": "SELECT 1 FROM submissions WHERE kind = 'payout' AND state = 'final'",
  "a batch is settled by a peer": `SELECT 1 FROM submissions s WHERE kind = 'settle' AND state = 'final'
     AND NOT EXISTS (SELECT 1 FROM broadcasts b WHERE b.tx_hash = s.tx_hash)
     AND EXISTS (SELECT 1 FROM batches b WHERE b.batch_id = s.id AND b.archived = 0)`,
  "a replaced transaction is mined": `SELECT 1 FROM submissions s JOIN broadcasts b ON b.tx_hash = s.tx_hash
     WHERE s.state = 'final' AND EXISTS (SELECT 1 FROM broadcasts later
       WHERE later.submission_id = b.submission_id AND later.nonce = b.nonce AND later.position > b.position)`,
  "a batch comes back on another nonce": `SELECT 1 FROM broadcasts b JOIN submissions s ON s.id = b.submission_id
     WHERE s.kind = 'settle' AND b.nonce <> s.nonce`,
  "a batch is taken over by another key": `SELECT 1 FROM broadcasts b JOIN submissions s ON s.id = b.submission_id
     WHERE s.kind = 'settle' AND b.operator <> s.operator`,
  "a batch is taken in from the chain": "SELECT 1 FROM batches WHERE adopted = 1",
  "a key that nobody has is given up": "SELECT 1 FROM operators WHERE retired = 1",
  "a batch is taken apart": "SELECT 1 FROM submissions WHERE kind = 'settle' AND state = 'abandoned'",
  "a charge fails and is paid later": `SELECT 1 FROM charges c JOIN submissions s ON s.id = c.batch_id
     WHERE c.attempts > 0 AND c.state = 'batched' AND s.state = 'final' AND c.charged_to = c.payer`,
  "a charge is absorbed": `SELECT 1 FROM charges c JOIN submissions s ON s.id = c.batch_id
     WHERE c.state = 'batched' AND s.state = 'final' AND c.charged_to <> c.payer`,
  "a charge is owed and paid later": `SELECT 1 FROM charges c JOIN submissions s ON s.id = c.batch_id
     WHERE c.owed = 1 AND c.state = 'batched' AND s.state = 'final'`,
  "a line waits for what its tool may earn": `SELECT 1 FROM charges c JOIN submissions s ON s.id = c.batch_id
     WHERE c.deferrals > 0 AND c.state = 'batched' AND s.state = 'final'`,
  "a budget is brought to the chain for good": "SELECT 1 FROM budgets WHERE carried > 0",
  "a budget is raised after it was brought": "SELECT 1 FROM budgets WHERE carried > 0 AND max_spend > carried",
  "a charge is paid under a budget": `SELECT 1 FROM charges c JOIN submissions s ON s.id = c.batch_id
     WHERE c.budget_id IS NOT NULL AND c.state = 'batched' AND s.state = 'final' AND c.charged_to = c.payer`,
  "a budget ends before what was drawn on it is settled": "SELECT 1 FROM failures WHERE reason = 'budget_expired'",
  "a smart account has withdrawn its signature": "SELECT 1 FROM failures WHERE reason = 'budget_forged'",
  "consent is demanded after a call without it": "SELECT 1 FROM failures WHERE reason = 'consent_required'",
  "a line is refused": "SELECT 1 FROM charges WHERE state = 'refused'",
  "a whole batch fails": `SELECT 1 FROM batches b JOIN submissions s ON s.id = b.batch_id WHERE s.state = 'final'
     AND b.archived = 0 AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.batch_id = b.batch_id)
     AND NOT EXISTS (SELECT 1 FROM archives)`,
  "what is final is archived": "SELECT 1 FROM archives WHERE state = 'archived'",
} as const;

// What leaves nothing in any table.
const COUNTED = {
  refusals: "new work is refused because too much waits",
  creditRefusals: "a payer has used up its credit",
  aboveLimit: "a charge is above an operator's limit",
  capturedTurns: "a turn is recorded for which something was held",
  resumedArchives: "an archive that was cut off goes on",
  archivedRepetitions: "what was archived is delivered again",
} as const;

export type Situation = keyof typeof SITUATIONS | (typeof COUNTED)[keyof typeof COUNTED];
export type Counts = Readonly<Record<keyof typeof COUNTED, number>>;

export const ALL_SITUATIONS = [...Object.keys(SITUATIONS), ...Object.values(COUNTED)] as Situation[];

export async function situationsIn(read: Reader, counts: Counts): Promise<Situation[]> {
  const names = Object.keys(COUNTED) as (keyof typeof COUNTED)[];
  const found: Situation[] = names.filter((name) => counts[name] > 0).map((name) => COUNTED[name]);
  for (const [situation, query] of Object.entries(SITUATIONS)) {
    if ((await read.all(`${query} LIMIT 1`)).length > 0) found.push(situation as Situation);
  }
  return found;
}
