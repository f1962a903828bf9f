import { count, text } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import { type Touches, touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validName, validText } from "../validate.ts";

export type Answer = { status: number; body: string };

// Keeps the answer and returns the one that counts: whoever answers first has answered, and the others get that answer.
export function saveAnswer(caller: string, key: string, answer: Answer) {
  validName("the caller", caller);
  validName("the idempotency key", key);
  const body = validText("the answer", answer.body);
  return touching(answerAt(caller, key), async (tx: Tx): Promise<Answer> => {
    await tx.run("UPDATE answers SET status = $3, body = $4 WHERE caller = $1 AND key = $2 AND status IS NULL", [
      caller,
      key,
      answer.status,
      body,
    ]);
    return (await answerOf(tx, caller, key)) ?? answer;
  });
}

export const answerAt = (caller: string, key: string): Touches => ({
  lock: "answers",
  name: JSON.stringify([caller, key]),
});

export async function answerOf(sql: Reader, caller: string, key: string): Promise<Answer | null> {
  const [row] = await sql.all(
    "SELECT status, body FROM answers WHERE caller = $1 AND key = $2 AND status IS NOT NULL",
    [caller, key],
  );
  return row === undefined ? null : { status: count(row, "status"), body: text(row, "body") };
}
