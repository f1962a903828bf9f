import type { OtherSubmission, Submission } from "../../domain/batch/submission.ts";
import { count, text } from "../database/decode.ts";
import { lockOperators } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { storeSubmission } from "../submissions/plan/planSubmission.ts";
import { validCount, validTime } from "../validate.ts";
import type { Lease } from "./lease.ts";

// With the time there, if the database has a clock of its own.
export type HomeCheck = ({ kind: "same" } | { kind: "moved"; from: string }) & { nowMs: number | null };

// Where the ledger is. If that is not where it was, it is a copy, or a standby that took over, and may lack what was signed
// last: every key is fenced off before anything is planned.
export function noteHome(home: string) {
  return async (tx: Tx): Promise<HomeCheck> => {
    const [clock] = tx.hasOwnClock ? await tx.all(`SELECT ${tx.now} AS now`) : [];
    const nowMs = clock === undefined ? null : count(clock, "now");
    const mark = markOf(tx);
    const read = async () => {
      const [row] = await tx.all(`SELECT home, ${mark.read} AS mark FROM homes`);
      return row === undefined ? null : { known: text(row, "home"), here: home + text(row, "mark") };
    };
    const found = await read();
    if (found === null) {
      await tx.run(`INSERT INTO homes (id, home, moved) VALUES (1, $1 || ${mark.write}, 0) ON CONFLICT DO NOTHING`, [
        home,
      ]);
      return { kind: "same", nowMs };
    }
    if (found.known === found.here) return { kind: "same", nowMs };
    await lockOperators(tx);
    // Another daemon may have noticed as well, and been first.
    const now = await read();
    if (now !== null && now.known === now.here) return { kind: "same", nowMs };
    // Of a retired key nothing can be settled, whatever was forgotten.
    await tx.run("UPDATE operators SET fence = -1 WHERE retired = 0");
    await tx.run(`UPDATE homes SET home = $1 || ${mark.write}, moved = 1`, [home]);
    return { kind: "moved", from: found.known, nowMs };
  };
}

// What a row says of itself that it does not say once it was brought back from a dump into the same database: the transaction that
// wrote it. A file has no such thing; what `backup` copies is marked instead.
function markOf({ locks }: Tx): { read: string; write: string } {
  if (locks.forUpdate === "") return { read: "''", write: "''" };
  return { read: "', written in ' || xmin::text", write: "', written in ' || pg_current_xact_id()::xid::text" };
}

// How far the fence of this key reaches, once the chain has been asked. What the chain has spent by then was given out by the
// ledger that this one is a copy of: nobody else need have the key.
export function setFence({ operator }: Lease, nonce: number, chainNonce: number) {
  validCount("the nonce", nonce);
  validCount("the chain's nonce", chainNonce);
  return async (tx: Tx): Promise<void> => {
    await tx.run(
      `UPDATE operators SET fence = $2, next_nonce = CASE WHEN next_nonce < $3 THEN $3 ELSE next_nonce END
       WHERE operator = $1 AND fence <> 0 AND fence < $2`,
      [operator, nonce, chainNonce],
    );
  };
}

// Everything below it is spent for good.
export function removeFence({ operator }: Lease, nonce: number) {
  validCount("the nonce", nonce);
  return async (tx: Tx): Promise<void> => {
    await tx.run("UPDATE operators SET fence = 0 WHERE operator = $1 AND fence = $2", [operator, nonce]);
  };
}

// Puts a filler on a nonce. What was abandoned on it lets go of it: the chain has not spent it after all. So does a batch that
// is final by another transaction than its own, from a ledger that this one is a copy of: nothing else would ever fill it.
export function planFiller(lease: Lease, filler: OtherSubmission & { nonce: number }, nowMs: number) {
  validCount("the nonce", filler.nonce);
  validTime("now", nowMs);
  return async (tx: Tx): Promise<Submission> => {
    await tx.run(
      `UPDATE submissions SET nonce = NULL WHERE operator = $1 AND nonce = $2 AND (state = 'abandoned' OR (state = 'final'
         AND NOT EXISTS (SELECT 1 FROM broadcasts b WHERE b.tx_hash = submissions.tx_hash AND b.operator = $1 AND b.nonce = $2)))`,
      [lease.operator, filler.nonce],
    );
    const stored = await storeSubmission(tx, lease, filler, nowMs);
    if (stored.state.kind !== "abandoned") return stored;
    // The filler itself was abandoned before the chain undid what had spent its nonce.
    await tx.run("UPDATE submissions SET nonce = $2, state = 'planned', gas_limit = 0 WHERE id = $1", [
      stored.id,
      filler.nonce,
    ]);
    return storeSubmission(tx, lease, filler, nowMs);
  };
}
