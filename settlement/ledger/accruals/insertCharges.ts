import type { Address, Hex } from "viem";
import { type ContentHashes, NO_HASH } from "../../domain/charge.ts";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { evenLengthsOf, type Param } from "../database/sql.ts";
import type { Tx } from "../database/tx.ts";

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
  const ofCalls: Param[] = [];
  for (const delivery of deliveries) {
    const { payer, budgetId, hashes, accruedAtMs, charges } = delivery;
    const [request, response, schema] = [known(hashes.request), known(hashes.response), known(hashes.schema)];
    const budget = budgetId === null ? null : budgetId.toString();
    let [all, pending, waiting] = [0n, 0n, 0];
    for (const { id, toolId, calls, amount, state, schemaHash } of charges) {
      const own = schemaHash === undefined ? schema : known(schemaHash);
      const about = [toolId, calls, payer, budget, amount, request, response, own, accruedAtMs, state] as const;
      if ("turnId" in delivery) ofTurns.push(id, delivery.turnId, ...about);
      else ofCalls.push(id, delivery.sessionId, delivery.callId, delivery.dueAtMs, ...about);
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
  sendRows(tx, OF_TURNS, ofTurns);
  sendRows(tx, OF_CALLS, ofCalls);
}

type Shape = { columns: string; width: number; row: (at: (parameter: number) => string) => string };

const ABOUT = `tool_id, calls, payer, budget_id, amount, request_hash, response_hash, schema_hash, accrued_at, state, charged_to, waiting`;
const about = (at: (parameter: number) => string, from: number) =>
  `${Array.from({ length: 10 }, (_, i) => at(from + i)).join(", ")}, ${at(from + 2)}`;

// What is the same in all of them, or twice in one, is written down once: each parameter takes its time on the way to the database.
const OF_TURNS: Shape = {
  columns: `id, turn_id, ${ABOUT}, due_at`,
  width: 12,
  row: (at) => `(${at(1)}, ${at(2)}, ${about(at, 3)}, 0, ${at(11)})`,
};
const OF_CALLS: Shape = {
  columns: `id, session_id, call_id, due_at, ${ABOUT}`,
  width: 14,
  row: (at) => `(${at(1)}, ${at(2)}, ${at(3)}, ${at(4)}, ${about(at, 5)}, 1)`,
};

function sendRows(tx: Tx, shape: Shape, params: readonly Param[]): void {
  const { width } = shape;
  let start = 0;
  for (const length of evenLengthsOf(params.length / width)) {
    tx.send(statementFor(shape, length), params.slice(start * width, (start + length) * width));
    start += length;
  }
}

// Remembered: there are few, and each is asked for again and again.
function statementFor(shape: Shape, rows: number): string {
  const known = statements.get(shape)?.get(rows);
  if (known !== undefined) return known;
  const { columns, width, row } = shape;
  const values = Array.from({ length: rows }, (_, i) => row((parameter) => `$${i * width + parameter}`));
  const text = `INSERT INTO charges (${columns}) VALUES ${values.join(", ")}`;
  const ofShape = statements.get(shape) ?? new Map<number, string>();
  statements.set(shape, ofShape.set(rows, text));
  return text;
}

const statements = new Map<Shape, Map<number, string>>();

function known(hash: Hex): Hex | null {
  return hash === NO_HASH ? null : hash;
}
