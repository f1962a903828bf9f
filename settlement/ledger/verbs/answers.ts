import type { Hex } from "viem";
import { count, text } from "../decode.ts";
import type { Answer, Callers } from "../ledger.ts";
import type { Reader } from "../sql.ts";
import type { Tx } from "../tx.ts";

type Claim = { caller: string; key: string; digest: Hex };

// Takes the key for this request, before anything is done for it.
export async function claimKey(tx: Tx, claim: Claim, nowMs: number): ReturnType<Callers["claimKey"]> {
  const { caller, key, digest } = claim;
  const inserted = await tx.run(
    `INSERT INTO answers (caller, key, digest, status, body, asked_at) VALUES ($1, $2, $3, NULL, NULL, $4)
     ON CONFLICT (caller, key) DO NOTHING`,
    [caller, key, digest, nowMs],
  );
  if (inserted > 0) return { kind: "claimed" };
  const [known] = await tx.all("SELECT digest FROM answers WHERE caller = $1 AND key = $2", [caller, key]);
  if (known === undefined || text(known, "digest") !== digest) return { kind: "conflict" };
  const answer = await findAnswer(tx, caller, key);
  // Asked before and not answered: it is still being done elsewhere, or was cut off by a crash.
  return answer === null ? { kind: "claimed" } : { kind: "answered", answer };
}

// Whoever answers first has answered; the others get that answer back.
export async function saveAnswer(tx: Tx, caller: string, key: string, answer: Answer): Promise<Answer> {
  await tx.run("UPDATE answers SET status = $3, body = $4 WHERE caller = $1 AND key = $2 AND status IS NULL", [
    caller,
    key,
    answer.status,
    answer.body,
  ]);
  return (await findAnswer(tx, caller, key)) ?? answer;
}

async function findAnswer(sql: Reader, caller: string, key: string): Promise<Answer | null> {
  const [row] = await sql.all(
    "SELECT status, body FROM answers WHERE caller = $1 AND key = $2 AND status IS NOT NULL",
    [caller, key],
  );
  return row === undefined ? null : { status: count(row, "status"), body: text(row, "body") };
}
