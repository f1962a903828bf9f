import type { Address, Hex } from "viem";
import { type ContentHashes, NO_HASH } from "../../domain/charge.ts";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { evenLengthsOf, type Param, tuples } from "../database/sql.ts";
import type { Tx } from "../database/tx.ts";

// The charges of one delivery.
export type Delivery = {
  source: { turnId: string } | { sessionId: string; callId: string };
  payer: Address;
  budgetId: bigint | null;
  hashes: ContentHashes;
  accruedAtMs: number;
  dueAtMs: number;
  // Waits for its session to be flushed.
  waiting: boolean;
  charges: readonly DeliveredCharge[];
};

export type DeliveredCharge = {
  id: Hex;
  // Null is the model.
  toolId: ToolId | null;
  calls: number;
  amount: MicroUsdc;
  state: "accrued" | "voided";
  // Where it is this charge's own and not the delivery's.
  schemaHash?: Hex;
};

const COLUMNS = 17;

// What is accrued is pending from now on.
export function insertCharges(tx: Tx, deliveries: readonly Delivery[]): void {
  const params: Param[] = [];
  for (const { source, payer, budgetId, hashes, accruedAtMs, dueAtMs, waiting, charges } of deliveries) {
    const [turnId, sessionId, callId] =
      "turnId" in source ? [source.turnId, null, null] : [null, source.sessionId, source.callId];
    const [request, response, schema] = [known(hashes.request), known(hashes.response), known(hashes.schema)];
    for (const { id, toolId, calls, amount, state, schemaHash } of charges) {
      const own = schemaHash === undefined ? schema : known(schemaHash);
      params.push(
        id,
        turnId,
        sessionId,
        callId,
        toolId,
        calls,
        payer,
        budgetId?.toString() ?? null,
        payer,
        amount,
        request,
        response,
        own,
        accruedAtMs,
        state,
        dueAtMs,
        waiting ? 1 : 0,
      );
      if (state === "accrued") {
        tx.change(payer, { pending: amount }, budgetId);
        tx.due.add(payer, { amount, dueAtMs });
      }
    }
    const sumOf = (some: readonly DeliveredCharge[]) => some.reduce((sum, { amount }) => sum + amount, 0n);
    tx.count(accruedAtMs, {
      accrued: microUsdc(sumOf(charges)),
      voided: microUsdc(sumOf(charges.filter(({ state }) => state === "voided"))),
      accruedCharges: charges.length,
    });
  }
  let start = 0;
  for (const length of evenLengthsOf(params.length / COLUMNS)) {
    const end = start + length * COLUMNS;
    tx.send(
      `INSERT INTO charges (id, turn_id, session_id, call_id, tool_id, calls, payer, budget_id, charged_to, amount,
         request_hash, response_hash, schema_hash, accrued_at, state, due_at, waiting)
       VALUES ${tuples(length, COLUMNS)}`,
      params.slice(start, end),
    );
    start = end;
  }
}

function known(hash: Hex): Hex | null {
  return hash === NO_HASH ? null : hash;
}
