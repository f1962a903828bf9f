import type { Hex } from "viem";
import type { Conflict } from "../conflict.ts";
import { text } from "../database/decode.ts";
import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validCount, validHash, validName, validTime } from "../validate.ts";
import { type Answer, answerAt, answerOf } from "./saveAnswer.ts";

export type Claim = { caller: string; key: string; digest: Hex };

// `running`: the same request was claimed by somebody else, less than `claimMs` ago, and has no answer yet.
export type ClaimOutcome =
  | { kind: "claimed"; atMs: number }
  | { kind: "running" }
  | { kind: "answered"; answer: Answer }
  | Conflict;

// Claims a caller's Idempotency-Key for a request before anything is done for it, or gives back what the same request was
// answered before. A claim that was neither answered nor released within `claimMs` belongs to a process that died, and goes
// over to whoever asks next.
export function claimKey(claim: Claim, nowMs: number, claimMs: number) {
  const caller = validName("the caller", claim.caller);
  const key = validName("the idempotency key", claim.key);
  const digest = validHash("the request's digest", claim.digest);
  validTime("now", nowMs);
  validCount("how long a claim holds", claimMs);
  return touching(answerAt(caller, key), async (tx: Tx): Promise<ClaimOutcome> => {
    const inserted = await tx.run(
      `INSERT INTO answers (caller, key, digest, status, body, asked_at) VALUES ($1, $2, $3, NULL, NULL, $4)
       ON CONFLICT (caller, key) DO NOTHING`,
      [caller, key, digest, nowMs],
    );
    if (inserted > 0) return { kind: "claimed", atMs: nowMs };
    const [known] = await tx.all("SELECT digest FROM answers WHERE caller = $1 AND key = $2", [caller, key]);
    // Released by another daemon between the two statements.
    if (known === undefined) return { kind: "running" };
    if (text(known, "digest") !== digest) return { kind: "conflict" };
    const answer = await answerOf(tx, caller, key);
    if (answer !== null) return { kind: "answered", answer };
    const taken = await tx.run(
      "UPDATE answers SET asked_at = $3 WHERE caller = $1 AND key = $2 AND status IS NULL AND asked_at <= $4",
      [caller, key, nowMs, nowMs - claimMs],
    );
    return taken > 0 ? { kind: "claimed", atMs: nowMs } : { kind: "running" };
  });
}
