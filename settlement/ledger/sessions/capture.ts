import type { Address, Hex } from "viem";
import { chargeIdOfCall } from "../../domain/charges/charge.ts";
import type { Capture, Hold, Session } from "../../domain/charges/session.ts";
import type { MicroUsdc } from "../../domain/money.ts";
import { type CreditPolicy, isHigh } from "../../domain/payer/credit.ts";
import { type Delivery, insertCharges } from "../accruals/insertCharges.ts";
import { address, amount, text } from "../database/decode.ts";
import { allOf, askingWith, askingWithin } from "../database/lists.ts";
import { evenChunksOf, type Param } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validCount, validHash, validName, validTime } from "../validate.ts";
import { holdFrom, SESSION_COLUMNS, sessionFrom } from "./decode.ts";
import { holdOf } from "./findHold.ts";
import { sessionOf } from "./findSession.ts";
import { flushSessions } from "./flushSessions.ts";

// When session charges are handed to settlement without waiting for the close; also once their payer owes so much of its credit
// that it is settled at once.
export type FlushPolicy = { maxCount: number; maxAmount: MicroUsdc; maxAgeMs: number; credit?: CreditPolicy };

export type CaptureOutcome =
  | { kind: "captured" | "duplicate"; hold: Hold; session: Session; chargeId: Hex }
  // It was voided before, by the caller or because its session ended.
  | { kind: "voided"; hold: Hold; session: Session }
  | { kind: "hold_not_found" };

export type AskedCapture = { capture: Capture; policy: FlushPolicy; nowMs: number };

export function checkCapture({ callId, hashes }: Capture, policy: FlushPolicy, nowMs: number): AskedCapture {
  validTime("now", nowMs + validCount("the longest wait", policy.maxAgeMs));
  return {
    capture: {
      callId: validName("the call's id", callId),
      hashes: {
        request: validHash("the request's hash", hashes.request),
        response: validHash("the response's hash", hashes.response),
        schema: validHash("the schema's hash", hashes.schema),
      },
    },
    policy,
    nowMs,
  };
}

// Turns holds into charges, unless they are free, and flushes a session's charges once the policy says so. A hold of a session
// that was closed meanwhile is still captured: the call was delivered within its budget. Each caller is told of the session
// as all that share the commit leave it.
export async function captureCalls(tx: Tx, asked: readonly AskedCapture[]): Promise<CaptureOutcome[]> {
  const holds = await takeHolds(tx, asked);
  const taken = asked.flatMap((one) => {
    const hold = holds.get(one.capture.callId);
    // Of several with one id, the first is the one that captures.
    return hold !== undefined && holds.delete(hold.callId) ? [{ ...one, hold }] : [];
  });
  const bySession = Map.groupBy(taken, ({ hold }) => hold.sessionId);
  const sessions = await spend(tx, bySession);
  for (const { hold } of taken) tx.change(hold.payer, { held: -hold.amount }, hold.budgetId);
  insertCharges(tx, taken.filter(({ hold }) => waits(hold)).map(deliveryOf));
  await flushFull(tx, bySession, sessions);

  const captured = new Map(taken.map((one) => [one.capture, one.hold]));
  const outcomes: CaptureOutcome[] = [];
  for (const { capture } of asked) {
    const hold = captured.get(capture);
    const session = hold === undefined ? undefined : sessions.get(hold.sessionId);
    if (hold === undefined || session === undefined) outcomes.push(await whyNot(tx, capture.callId));
    else outcomes.push({ kind: "captured", hold, session, chargeId: chargeIdOfCall(hold) });
  }
  return outcomes;
}

type Taken = AskedCapture & { hold: Hold };

// The condition is in the statement that changes the row: of all who ask, one gets it.
async function takeHolds(tx: Tx, asked: readonly AskedCapture[]): Promise<Map<string, Hold>> {
  const asking = askingWith(
    tx,
    ["TEXT", "BIGINT"],
    asked.flatMap(({ capture, nowMs }) => [capture.callId, nowMs]),
    (table) =>
      `UPDATE holds SET state = 'captured', captured_at = asked.column2 FROM ${table} AS asked
       WHERE call_id = asked.column1 AND state = 'held'
       RETURNING call_id, session_id, payer, budget_id, tool_id, method, amount, held_at, state`,
  );
  const rows = await allOf(tx, asking);
  return new Map(rows.map((row) => [text(row, "call_id"), holdFrom(row)]));
}

// A free call makes no charge, and so there is nothing to wait for.
const waits = ({ amount }: Hold) => amount > 0n;

function deliveryOf({ capture, policy, nowMs, hold }: Taken): Delivery {
  const { sessionId, callId, payer, budgetId, toolId, amount } = hold;
  return {
    sessionId,
    callId,
    payer,
    budgetId,
    hashes: capture.hashes,
    accruedAtMs: nowMs,
    dueAtMs: nowMs + policy.maxAgeMs,
    charges: [{ id: chargeIdOfCall(hold), toolId, calls: 1, amount, state: "accrued" }],
  };
}

async function spend(tx: Tx, bySession: ReadonlyMap<string, readonly Taken[]>): Promise<Map<string, Session>> {
  const params: Param[] = [];
  for (const [id, taken] of bySession) {
    const waiting = taken.filter(({ hold }) => waits(hold));
    const since = waiting.length === 0 ? null : Math.min(...waiting.map(({ nowMs }) => nowMs));
    params.push(
      id,
      taken.reduce((sum, { hold }) => sum + hold.amount, 0n),
      waiting.length,
      since,
    );
  }
  const spending = askingWith(
    tx,
    ["TEXT", "BIGINT", "INTEGER", "BIGINT"],
    params,
    (table) =>
      `UPDATE sessions SET held = held - taken.column2, spent = spent + taken.column2,
         waiting_count = waiting_count + taken.column3, waiting_amount = waiting_amount + taken.column2,
         waiting_since = COALESCE(waiting_since, taken.column4)
       FROM ${table} AS taken
       WHERE id = taken.column1
       RETURNING ${SESSION_COLUMNS}`,
  );
  const updated = await allOf(tx, spending);
  return new Map(updated.map((row) => [text(row, "id"), sessionFrom(row)]));
}

async function flushFull(
  tx: Tx,
  bySession: ReadonlyMap<string, readonly Taken[]>,
  sessions: Map<string, Session>,
): Promise<void> {
  const exposed = await exposedOf(tx, [...bySession.values()].flat());
  const full = [...sessions.values()].filter(
    (session) =>
      (exposed.has(session.payer) && session.pendingAccruedCount > 0) ||
      bySession.get(session.id)?.some(({ policy }) => shouldFlush(session, policy)),
  );
  for (const chunk of evenChunksOf(full)) {
    const times = chunk.flatMap(({ id }) => bySession.get(id)?.map(({ nowMs }) => nowMs) ?? []);
    const ids = chunk.map(({ id }) => id);
    for (const flushed of await flushSessions(tx, ids, Math.max(...times))) sessions.set(flushed.id, flushed);
  }
}

// The payers among them who owe so much of their credit that it is settled at once. Nothing hangs on whether another daemon changes
// that at this moment, so that they are not locked for it.
async function exposedOf(tx: Tx, taken: readonly Taken[]): Promise<Set<Address>> {
  const creditOf = new Map<Address, CreditPolicy>();
  for (const { hold, policy } of taken) if (policy.credit !== undefined) creditOf.set(hold.payer, policy.credit);
  const asking = askingWithin(
    tx,
    "TEXT",
    [...creditOf.keys()],
    (list) => `SELECT payer, pending, settled FROM payers WHERE payer ${list}`,
  );
  const rows = await allOf(tx, asking);
  const known = new Map(rows.map((row) => [address(row, "payer"), row]));
  const exposed = [...creditOf].filter(([payer, credit]) => {
    const row = known.get(payer);
    const before =
      row === undefined
        ? { exposure: 0n, settled: 0n }
        : { exposure: amount(row, "pending"), settled: amount(row, "settled") };
    return isHigh(credit, { ...before, exposure: before.exposure + tx.changeOf(payer).pending });
  });
  return new Set(exposed.map(([payer]) => payer));
}

// Nothing waits in a session that has ended.
function shouldFlush(session: Session, { maxCount, maxAmount }: FlushPolicy): boolean {
  const { status, pendingAccruedCount, pendingAccrued } = session;
  if (pendingAccruedCount === 0) return false;
  return status !== "open" || pendingAccruedCount >= maxCount || pendingAccrued >= maxAmount;
}

async function whyNot(tx: Tx, callId: string): Promise<CaptureOutcome> {
  const hold = await holdOf(tx, callId);
  if (hold === null) return { kind: "hold_not_found" };
  const session = await sessionOf(tx, hold.sessionId);
  if (session === null) return { kind: "hold_not_found" };
  return hold.state.kind === "captured"
    ? { kind: "duplicate", hold, session, chargeId: hold.state.chargeId }
    : { kind: "voided", hold, session };
}
