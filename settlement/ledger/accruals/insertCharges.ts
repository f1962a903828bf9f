import type { Address, Hex } from "viem";
import { type ContentHashes, NO_HASH } from "../../domain/charges/charge.ts";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { type Insertion, insertionsOf, sendAll } from "../database/lists.ts";
import type { Param } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";

// The charges of one delivery. Those of a turn are due at once; those of a call wait for its session to be flushed, and not longer
// than until they are due.
export type Delivery = {
  payer: Address;
  budgetId: bigint | null;
  hashes: ContentHashes;
  accruedAtMs: number;
  charges: readonly DeliveredCharge[];
} & ({ turnId: string } | { sessionId: string; callId: string; dueAtMs: number });

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

// What is accrued is pending from now on.
export function insertCharges(tx: Tx, deliveries: readonly Delivery[]): void {
  const ofTurns: Param[] = [];
  const plain: Param[] = [];
  const ofCalls: Param[] = [];
  for (const delivery of deliveries) {
    const { payer, budgetId, hashes, accruedAtMs, charges } = delivery;
    const [request, response, schema] = [known(hashes.request), known(hashes.response), known(hashes.schema)];
    const budget = budgetId === null ? null : budgetId.toString();
    let [all, pending, waiting] = [0n, 0n, 0];
    for (const { id, toolId, calls, amount, state, schemaHash } of charges) {
      const own = schemaHash === undefined ? schema : known(schemaHash);
      const isPlain = state === "accrued" && budget === null && request === null && response === null && own === null;
      if ("turnId" in delivery && isPlain) plain.push(id, delivery.turnId, toolId, calls, payer, amount, accruedAtMs);
      else {
        const about = [toolId, calls, payer, budget, amount, request, response, own, accruedAtMs, state] as const;
        if ("turnId" in delivery) ofTurns.push(id, delivery.turnId, ...about);
        else ofCalls.push(id, delivery.sessionId, delivery.callId, delivery.dueAtMs, ...about);
      }
      all += amount;
      if (state !== "accrued") continue;
      pending += amount;
      waiting += 1;
    }
    if (waiting > 0) {
      const dueAtMs = "turnId" in delivery ? accruedAtMs : delivery.dueAtMs;
      tx.change(payer, { pending }, budgetId);
      tx.due.add(payer, { amount: pending, dueAtMs, charges: waiting });
    }
    const voided = all - pending;
    const accrued = { accrued: microUsdc(all), accruedCharges: charges.length };
    tx.count(accruedAtMs, voided === 0n ? accrued : { ...accrued, voided: microUsdc(voided) });
  }
  sendAll(tx, insertionsOf(tx, PLAIN, plain));
  sendAll(tx, insertionsOf(tx, OF_TURNS, ofTurns));
  sendAll(tx, insertionsOf(tx, OF_CALLS, ofCalls));
}

const ABOUT = {
  tool_id: "TEXT",
  calls: "INTEGER",
  payer: "TEXT",
  budget_id: "TEXT",
  amount: "BIGINT",
  request_hash: "TEXT",
  response_hash: "TEXT",
  schema_hash: "TEXT",
  accrued_at: "BIGINT",
  state: "TEXT",
} as const;

// Of a turn that came without hashes and draws on no budget: half as much to hand over.
const PLAIN: Insertion = {
  into: "charges",
  columns: {
    id: "TEXT",
    turn_id: "TEXT",
    tool_id: "TEXT",
    calls: "INTEGER",
    payer: "TEXT",
    amount: "BIGINT",
    accrued_at: "BIGINT",
  },
  derived: { charged_to: "payer", waiting: "0", due_at: "accrued_at", state: "'accrued'" },
};

const OF_TURNS: Insertion = {
  into: "charges",
  columns: { id: "TEXT", turn_id: "TEXT", ...ABOUT },
  derived: { charged_to: "payer", waiting: "0", due_at: "accrued_at" },
};
const OF_CALLS: Insertion = {
  into: "charges",
  columns: { id: "TEXT", session_id: "TEXT", call_id: "TEXT", due_at: "BIGINT", ...ABOUT },
  derived: { charged_to: "payer", waiting: "1" },
};

function known(hash: Hex): Hex | null {
  return hash === NO_HASH ? null : hash;
}
