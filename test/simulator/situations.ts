import type { Reader } from "../../settlement/ledger/sql.ts";

// Situations in which settlement can go wrong, as the ledger shows them when a run is over. A fault that is injected need
// not lead anywhere; these say how far the runs really got.
const SITUATIONS = {
  "a lease is taken over": "SELECT 1 FROM operators WHERE token > 1",
  "a gap in the nonces is filled": "SELECT 1 FROM submissions WHERE kind = 'fill' AND state = 'final'",
  "credits are pushed": "SELECT 1 FROM submissions WHERE kind = 'payout' AND state = 'final'",
  "a batch is settled by a peer": `SELECT 1 FROM submissions s WHERE kind = 'settle' AND state = 'final'
     AND NOT EXISTS (SELECT 1 FROM broadcasts b WHERE b.tx_hash = s.tx_hash)`,
  "a replaced transaction is mined": `SELECT 1 FROM submissions s JOIN broadcasts b ON b.tx_hash = s.tx_hash
     WHERE s.state = 'final' AND EXISTS (SELECT 1 FROM broadcasts later
       WHERE later.submission_id = b.submission_id AND later.nonce = b.nonce AND later.position > b.position)`,
  "a batch comes back on another nonce": `SELECT 1 FROM broadcasts b JOIN submissions s ON s.id = b.submission_id
     WHERE s.kind = 'settle' AND b.nonce <> s.nonce`,
  "a batch is taken apart": "SELECT 1 FROM submissions WHERE kind = 'settle' AND state = 'released'",
  "a charge fails and is paid later": "SELECT 1 FROM charges WHERE attempts > 0 AND state = 'final'",
  "a charge is absorbed": "SELECT 1 FROM charges WHERE state = 'absorbed'",
  "a line is refused": "SELECT 1 FROM charges WHERE state = 'refused'",
  "a whole batch fails": `SELECT 1 FROM batches b JOIN submissions s ON s.id = b.root WHERE s.state = 'final'
     AND NOT EXISTS (SELECT 1 FROM charges c WHERE c.root = b.root)`,
} as const;

export type Situation = keyof typeof SITUATIONS;

export const ALL_SITUATIONS = Object.keys(SITUATIONS) as Situation[];

export async function situationsIn(read: Reader): Promise<Situation[]> {
  const found: Situation[] = [];
  for (const [situation, query] of Object.entries(SITUATIONS)) {
    if ((await read.all(`${query} LIMIT 1`)).length > 0) found.push(situation as Situation);
  }
  return found;
}
