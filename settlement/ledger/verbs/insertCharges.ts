import type { Address, Hex } from "viem";
import { type ContentHashes, NO_HASH } from "../../domain/charge.ts";
import type { MicroUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { type Param, tuples } from "../sql.ts";
import type { Tx } from "../tx.ts";

export type NewCharge = {
  id: Hex;
  source: { turnId: string } | { sessionId: string; callId: string };
  // Null is the model.
  toolId: ToolId | null;
  calls: number;
  payer: Address;
  amount: MicroUsdc;
  hashes: ContentHashes;
  state: "accrued" | "voided";
  accruedAtMs: number;
  dueAtMs: number;
  // Waits for its session to be flushed.
  waiting: boolean;
};

// One statement for all charges of a turn. What is accrued is pending from now on.
export async function insertCharges(tx: Tx, charges: readonly NewCharge[]): Promise<void> {
  const params: Param[] = [];
  for (const charge of charges) {
    const { source, hashes, payer, amount, state } = charge;
    const [turnId, sessionId, callId] =
      "turnId" in source ? [source.turnId, null, null] : [null, source.sessionId, source.callId];
    params.push(charge.id, turnId, sessionId, callId, charge.toolId, charge.calls, payer, payer, amount);
    params.push(known(hashes.request), known(hashes.response), known(hashes.schema));
    params.push(charge.accruedAtMs, 0, state, charge.dueAtMs, null, charge.waiting ? 1 : 0, 0);
    if (state === "accrued") tx.change(payer, { pending: amount });
  }
  await tx.run(statementFor(charges.length), params);
}

const COLUMNS = [
  ...["id", "turn_id", "session_id", "call_id", "tool_id", "calls", "payer", "charged_to", "amount"],
  ...["request_hash", "response_hash", "schema_hash"],
  ...["accrued_at", "attempts", "state", "due_at", "root", "waiting", "cleared"],
];

// One text per number of charges, of which a turn has few: made once, it is also found at once among the prepared ones.
const statements = new Map<number, string>();

function statementFor(count: number): string {
  const known = statements.get(count);
  if (known !== undefined) return known;
  const text = `INSERT INTO charges (${COLUMNS.join(", ")}) VALUES ${tuples(count, COLUMNS.length)}`;
  statements.set(count, text);
  return text;
}

function known(hash: Hex): Hex | null {
  return hash === NO_HASH ? null : hash;
}
