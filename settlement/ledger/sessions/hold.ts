import type { Address } from "viem";
import { type Call, type Hold, type Session, statusAt } from "../../domain/charges/session.ts";
import { microUsdc } from "../../domain/money.ts";
import { type BudgetKey, budgetName, type KnownBudget, remainingOf } from "../../domain/payer/budget.ts";
import { type CreditPolicy, type CreditRefusal, refuseCredit } from "../../domain/payer/credit.ts";
import type { ReadFunds } from "../../domain/payer/payer.ts";
import { callName } from "../archive/names.ts";
import { placesOf } from "../archive/places.ts";
import { readBudgets } from "../budgets/draw.ts";
import type { Conflict } from "../conflict.ts";
import { amount, integer, text } from "../database/decode.ts";
import { allOf, askingWith, askingWithin, type Insertion, insertionsOf, sendAll } from "../database/lists.ts";
import type { Param } from "../database/sql.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAmount, validName, validTime, validToolId } from "../validate.ts";
import { holdFrom, sessionFrom } from "./decode.ts";

export type HoldOutcome =
  | { kind: "held" | "duplicate"; hold: Hold; session: Session }
  | { kind: "session_closed" | "session_expired" | "session_budget_exceeded"; session: Session }
  // The payer's calls and charges already come to more than was said to be spendable, or to be left of the budget.
  | { kind: "unaffordable" }
  // They come to more than the payer's credit and its prepaid money.
  | ({ kind: "credit_exceeded"; session: Session } & CreditRefusal)
  // What was said to be spendable is from before `takenAtBlock`, when something of it was taken: ask the chain again.
  | { kind: "outdated"; takenAtBlock: bigint }
  | { kind: "session_not_found" }
  | Conflict;

// A call of this name may be in the archive, and nothing was changed. Whoever asked looks there.
export type MaybeArchivedHold = { kind: "archived"; places: readonly bigint[]; session: Session | null };

// `funds` may be missing for a call that was held before, and is asked for if it was not. `ruledOut`: places in the archive that
// have another call of the same fingerprint.
export type AskedHold = {
  call: Call;
  funds: ReadFunds | null;
  nowMs: number;
  credit: CreditPolicy | null;
  ruledOut: readonly bigint[];
};

type Outcome = HoldOutcome | MaybeArchivedHold;

// A payer's charges and calls, those of this transaction included.
type Commitment = { amount: bigint; settled: bigint; takenAtBlock: bigint };

export function checkHold(
  call: Call,
  funds: ReadFunds | null,
  nowMs: number,
  credit: CreditPolicy | null = null,
  ruledOut: readonly bigint[] = [],
): AskedHold {
  return {
    call: {
      callId: validName("the call's id", call.callId),
      sessionId: validName("the session's id", call.sessionId),
      toolId: validToolId(call.toolId),
      method: validName("the method", call.method),
      amount: validAmount("the price", call.amount),
      budgetId: call.budgetId ?? null,
    },
    funds,
    nowMs: validTime("now", nowMs),
    credit,
    ruledOut,
  };
}

// Reserves the prices of calls that share a commit, one after another: each if its session has room for it, and if the payer
// can pay it beside everything that is pending and held. Sessions and payers are locked, so that nobody else can take the same
// last cent, and the calls of many sessions never come to more than there is.
export async function holdCalls(tx: Tx, asked: readonly AskedHold[]): Promise<Outcome[]> {
  const outcomes = new Map<AskedHold, Outcome>();
  // In each pass at least one is answered for good, because what another daemon held meanwhile is known in the next.
  for (let left = asked; left.length > 0; left = left.filter((one) => !outcomes.has(one))) {
    for (const [one, outcome] of await holdFirst(tx, left)) outcomes.set(one, outcome);
  }
  return asked.map((one) => outcomes.get(one) as Outcome);
}

// Answers the first of those that have one id; the others will find it.
async function holdFirst(tx: Tx, asked: readonly AskedHold[]): Promise<Map<AskedHold, Outcome>> {
  const byId = Map.groupBy(asked, ({ call }) => call.callId);
  const first = asked.filter((one) => byId.get(one.call.callId)?.[0] === one);
  // Calls that are there are locked by now. One that was archived meanwhile has been waited for, and its name is found.
  const [known, { sessions, commitments }, places] = await Promise.all([
    readHolds(tx, [...byId.keys()]),
    readSessions(tx, [...new Set(first.map(({ call }) => call.sessionId))]),
    placesOf(
      tx,
      first.map(({ call }) => callName(call.callId)),
    ),
  ]);

  const budgets = await readBudgets(
    tx,
    first.flatMap(({ call }) => budgetKeyOf(call, sessions.get(call.sessionId) ?? null) ?? []),
  );

  const refused = new Map<AskedHold, Outcome>();
  const granted = new Map<string, { one: AskedHold; outcome: HoldOutcome & { hold: Hold; session: Session } }>();
  for (const one of first) {
    const { call } = one;
    const session = sessions.get(call.sessionId) ?? null;
    const commitment = session === null ? null : (commitments.get(session.payer) ?? null);
    const candidates = places.get(callName(call.callId))?.filter((place) => !one.ruledOut.includes(place)) ?? [];
    if (candidates.length > 0 && !known.has(call.callId)) {
      refused.set(one, { kind: "archived", places: [...one.ruledOut, ...candidates], session });
      continue;
    }
    const key = budgetKeyOf(call, session);
    const budget = key === null ? null : (budgets.get(budgetName(key)) ?? null);
    const refusal =
      refuse(one, known.get(call.callId) ?? null, session, commitment) ??
      (key === null || covers(budget, one) ? null : ({ kind: "unaffordable" } as const));
    if (refusal !== null || session === null || commitment === null) {
      refused.set(one, refusal ?? { kind: "session_not_found" });
      continue;
    }
    const held = session.held + call.amount;
    const after: Session = { ...session, held: held as Session["held"], methodPrice: call.amount };
    sessions.set(call.sessionId, after);
    commitments.set(session.payer, { ...commitment, amount: commitment.amount + call.amount });
    if (budget !== null) {
      const drawn = { ...budget, held: microUsdc(budget.held + call.amount) };
      budgets.set(budgetName(budget), drawn);
    }
    const hold: Hold = {
      ...call,
      payer: session.payer,
      budgetId: key?.id ?? null,
      heldAtMs: one.nowMs,
      state: { kind: "held" },
    };
    granted.set(call.callId, { one, outcome: { kind: "held", hold, session: after } });
  }

  const holds = [...granted.values()].map(({ outcome }) => outcome.hold);
  const inserted = await insertHolds(tx, holds);
  reserve(
    tx,
    holds.filter(({ callId }) => inserted.has(callId)),
  );
  const answers = [...granted.values()].filter(({ one }) => inserted.has(one.call.callId));
  const held = new Map<AskedHold, Outcome>(answers.map(({ one, outcome }) => [one, outcome]));
  // Another daemon held one of these calls meanwhile: what was refused beside it may have been refused for its price.
  return inserted.size < granted.size ? held : new Map([...held, ...refused]);
}

// Why a call is not held now, or null if it can be. One that was held before is a duplicate whatever became of its session
// and its payer since.
function refuse(
  { call, funds, nowMs, credit }: AskedHold,
  known: Hold | null,
  session: Session | null,
  commitment: Commitment | null,
): HoldOutcome | null {
  if (known !== null) {
    return isSameCall(known, call) && session !== null
      ? { kind: "duplicate", hold: known, session }
      : { kind: "conflict" };
  }
  if (session === null || commitment === null) return { kind: "session_not_found" };
  const { takenAtBlock, settled } = commitment;
  if (funds === null || funds.atBlock < takenAtBlock) return { kind: "outdated", takenAtBlock };
  if (commitment.amount + call.amount > funds.amount) return { kind: "unaffordable" };
  const status = statusAt(session, nowMs);
  if (status !== "open") return { kind: `session_${status}`, session: { ...session, status } };
  const fits = session.spent + session.held + call.amount <= session.maxSpend;
  if (!fits) return { kind: "session_budget_exceeded", session };
  const used = { committed: commitment.amount, settled, prepaid: funds.prepaid ?? 0n };
  const refusal = credit === null ? null : refuseCredit(credit, used, call.amount);
  return refusal === null ? null : { kind: "credit_exceeded", session, ...refusal };
}

// What a call draws on: the budget that it brings, or that of its session.
function budgetKeyOf({ budgetId }: Call, session: Session | null): BudgetKey | null {
  const id = budgetId ?? session?.budgetId ?? null;
  return session === null || id === null ? null : { payer: session.payer, id };
}

// Whether what was said of a budget still leaves enough. That it is for this tool, and for long enough, was looked at before, and
// no newer signature takes it back.
function covers(budget: KnownBudget | null, { call, funds }: AskedHold): boolean {
  if (budget === null || funds?.budget == null) return false;
  return call.amount <= remainingOf(budget, funds.budget);
}

export function isSameCall(hold: Hold, { sessionId, toolId, method, amount }: Call): boolean {
  return hold.sessionId === sessionId && hold.toolId === toolId && hold.method === method && hold.amount === amount;
}

async function readHolds(tx: Tx, callIds: readonly string[]): Promise<Map<string, Hold>> {
  const asking = askingWithin(tx, "TEXT", callIds, (list) => `SELECT * FROM holds WHERE call_id ${list}`);
  const rows = await allOf(tx, asking);
  return new Map(rows.map((row) => [text(row, "call_id"), holdFrom(row)]));
}

async function readSessions(tx: Tx, ids: readonly string[]) {
  const sessions = new Map<string, Session>();
  const commitments = new Map<Address, Commitment>();
  const asking = askingWithin(
    tx,
    "TEXT",
    ids,
    (list) =>
      `SELECT s.*, COALESCE(p.pending, 0) + COALESCE(p.held, 0) AS committed,
         COALESCE(p.settled, 0) AS settled, COALESCE(p.taken_at_block, 0) AS taken_at_block
       FROM sessions s LEFT JOIN payers p ON p.payer = s.payer WHERE s.id ${list}`,
  );
  for (const row of await allOf(tx, asking)) {
    const session = sessionFrom(row);
    // One that another daemon has opened since is not locked, and neither is its payer: for this commit it is not there yet.
    if (tx.locks.forUpdate !== "" && !tx.lockedSessions.has(session.id)) continue;
    sessions.set(session.id, session);
    // What this transaction has changed so far is in no row yet.
    const own = tx.changeOf(session.payer);
    commitments.set(session.payer, {
      amount: amount(row, "committed") + own.pending + own.held,
      settled: amount(row, "settled") + own.settled,
      takenAtBlock: integer(row, "taken_at_block"),
    });
  }
  return { sessions, commitments };
}

const HOLDS: Insertion = {
  into: "holds",
  columns: {
    call_id: "TEXT",
    session_id: "TEXT",
    payer: "TEXT",
    budget_id: "TEXT",
    tool_id: "TEXT",
    method: "TEXT",
    amount: "BIGINT",
    held_at: "BIGINT",
  },
  derived: { state: "'held'" },
  tail: "ON CONFLICT (call_id) DO NOTHING RETURNING call_id",
};

// Which of them nobody else has inserted.
async function insertHolds(tx: Tx, holds: readonly Hold[]): Promise<Set<string>> {
  const params: Param[] = [];
  for (const { callId, sessionId, payer, budgetId, toolId, method, amount, heldAtMs } of holds) {
    params.push(callId, sessionId, payer, budgetId?.toString() ?? null, toolId, method, amount, heldAtMs);
  }
  const rows = await allOf(tx, insertionsOf(tx, HOLDS, params));
  return new Set(rows.map((row) => text(row, "call_id")));
}

// The table itself refuses a session that comes to more than its budget.
function reserve(tx: Tx, holds: readonly Hold[]): void {
  const sessions = [...Map.groupBy(holds, ({ sessionId }) => sessionId)];
  const params: Param[] = [];
  for (const [id, own] of sessions) {
    params.push(
      id,
      own.reduce((sum, { amount }) => sum + amount, 0n),
      own.at(-1)?.amount ?? 0n,
    );
  }
  const reserving = askingWith(
    tx,
    ["TEXT", "BIGINT", "BIGINT"],
    params,
    (table) =>
      `UPDATE sessions SET held = held + reserved.column2, method_price = reserved.column3
       FROM ${table} AS reserved
       WHERE sessions.id = reserved.column1`,
  );
  sendAll(tx, reserving);
  for (const { payer, amount, budgetId } of holds) tx.change(payer, { held: amount }, budgetId);
}
