import type { Address, Hex } from "viem";
import { type ChargeFor, type DueCharge, NO_HASH, NO_HASHES } from "../../../domain/charges/charge.ts";
import { microUsdc } from "../../../domain/money.ts";
import type { ToolId } from "../../../domain/toolId.ts";
import { isChargedTo, isChargedToAny, mayBeChargedToAny } from "../../database/beginnings.ts";
import { count, damaged } from "../../database/decode.ts";
import type { Param, Value } from "../../database/sql.ts";
import type { Tx } from "../../database/transactions/tx.ts";
import { withoutPaid } from "../adopt/payFromUnexplained.ts";
import { lockSessionsOf, mayBeTaken, stopWaiting } from "../adopt/stopWaiting.ts";
import type { DueRow } from "./listDueRows.ts";

// Not all that is due of an account, but at most so many charges: those of one row, or the ones that have waited longest.
export type Part = { account: Address; row: Pick<DueRow, "budgetId" | "dueUpToMs"> | null; maxCharges: number };

// A charge that is due, since when, and the session in which it waits to be flushed.
type Taken = DueCharge & { dueAtMs: number; waitingIn: string | null };

// Due charges that nobody else is taking at this moment, longest waiting first. They stay locked until the commit. `wholeOf` has the
// accounts of which all that is due was read, with how much that is; it stays so.
export async function takeDue(
  tx: Tx,
  { accounts, parts }: { accounts: readonly Address[]; parts: readonly Part[] },
  limit: number,
  nowMs: number,
): Promise<{ charges: readonly Taken[]; wholeOf: ReadonlyMap<Address, number> }> {
  const { charges, whole } = await takeFrom(tx, accounts, limit, nowMs);
  const ofParts: Taken[] = [];
  for (const part of parts) ofParts.push(...(await takePart(tx, part, nowMs)));
  const taken = ofParts.length === 0 ? charges : [...charges, ...ofParts];
  const left = await withoutPaid(tx, taken.sort(byAge), nowMs);
  const waiting: { id: Hex; sessionId: string }[] = [];
  for (const { id, waitingIn } of left) if (waitingIn !== null) waiting.push({ id, sessionId: waitingIn });
  await stopWaiting(tx, waiting);
  const wholeOf = new Map<Address, number>();
  if (whole) for (const { chargedTo } of left) wholeOf.set(chargedTo, (wholeOf.get(chargedTo) ?? 0) + 1);
  for (const { account } of parts) wholeOf.delete(account);
  return { charges: left, wholeOf };
}

// All that is due of some accounts, unless that is more than the limit. Where there is one writer, that is known before; then
// nothing is left to the database to put in order.
async function takeFrom(
  tx: Tx,
  accounts: readonly Address[],
  limit: number,
  nowMs: number,
): Promise<{ charges: Taken[]; whole: boolean }> {
  if (accounts.length === 0) return { charges: [], whole: false };
  const due = `due_at <= $1 AND ${isChargedToAny(accounts.length, 3)}`;
  const params = [nowMs, limit, ...accounts];
  const whole = tx.locks.forUpdate === "" && (await countDue(tx, accounts, nowMs)) <= limit;
  if (!whole) return { charges: await takeOldest(tx, due, params), whole };
  return { charges: await readTaken(tx, `state = 'accrued' AND ${due}`, params), whole };
}

// Whoever else is charged for it draws on no budget.
const UNDER_NONE = "AND (budget_id IS NULL OR payer <> charged_to)";
const UNDER_ONE = "AND budget_id = $4 AND payer = charged_to";

function takePart(tx: Tx, { account, row, maxCharges }: Part, nowMs: number): Promise<Taken[]> {
  const due = `due_at <= $1 AND ${isChargedTo("$3")}`;
  if (row === null) return takeOldest(tx, due, [nowMs, maxCharges, account]);
  const { budgetId, dueUpToMs } = row;
  const params = [Math.min(nowMs, dueUpToMs), maxCharges, account];
  if (budgetId === null) return takeOldest(tx, `${due} ${UNDER_NONE}`, params);
  return takeOldest(tx, `${due} ${UNDER_ONE}`, [...params, budgetId.toString()]);
}

// The second parameter is how many.
async function takeOldest(tx: Tx, condition: string, params: readonly Param[]): Promise<Taken[]> {
  const due = `state = 'accrued' AND ${condition}`;
  const locked = await lockSessionsOf(tx, `(SELECT * FROM charges WHERE ${due} ORDER BY due_at, id LIMIT $2)`, params);
  return readTaken(
    tx,
    `${due} ${mayBeTaken(locked, params.length + 1)} ORDER BY due_at, id LIMIT $2 ${tx.locks.skipLocked}`,
    [...params, ...(locked ?? [])],
  );
}

// What is almost always the same is left out: thousands are read for a batch.
async function readTaken(tx: Tx, condition: string, params: readonly Param[]): Promise<Taken[]> {
  return tx.each(
    `SELECT id, charged_to, CASE WHEN payer <> charged_to THEN payer END AS owing, amount, accrued_at,
       NULLIF(due_at, accrued_at) AS due, tool_id, NULLIF(calls, 1) AS calls, NULLIF(attempts, 0) AS attempts, budget_id,
       request_hash, response_hash, schema_hash, CASE WHEN waiting = 1 THEN session_id END AS waiting_in
     FROM charges WHERE ${condition}`,
    params,
    createReadTaken(),
  );
}

// The same few accounts and tools come again and again, and are kept once.
function createReadTaken(): (values: readonly Value[]) => Taken {
  const accounts = new Map<string, Address>();
  const subjects = new Map<string, ChargeFor>();
  const subjectOf = (toolId: string, calls: Value | undefined): ChargeFor => {
    const known = calls === null ? subjects.get(toolId) : undefined;
    if (known !== undefined) return known;
    const subject: ChargeFor = { kind: "tool", toolId: toolId as ToolId, calls: calls === null ? 1 : wholeIn(calls) };
    if (calls === null) subjects.set(toolId, subject);
    return subject;
  };
  const accountOf = (value: Value | undefined): Address => {
    const account = textIn(value) as Address;
    const known = accounts.get(account);
    if (known !== undefined) return known;
    accounts.set(account, account);
    return account;
  };
  return (values) => {
    const chargedTo = accountOf(values[1]);
    const accruedAtMs = wholeIn(values[4]);
    const isPlain = values[10] === null && values[11] === null && values[12] === null;
    return {
      id: textIn(values[0]) as Hex,
      for: values[6] === null ? MODEL : subjectOf(textIn(values[6]), values[7]),
      payer: values[2] === null ? chargedTo : accountOf(values[2]),
      budgetId: values[9] === null ? null : BigInt(textIn(values[9])),
      chargedTo,
      amount: microUsdc(integerIn(values[3])),
      hashes: isPlain
        ? NO_HASHES
        : { request: hashIn(values[10]), response: hashIn(values[11]), schema: hashIn(values[12]) },
      accruedAtMs,
      attempts: values[8] === null ? 0 : wholeIn(values[8]),
      dueAtMs: values[5] === null ? accruedAtMs : wholeIn(values[5]),
      waitingIn: values[13] === null ? null : textIn(values[13]),
    };
  };
}

const MODEL: ChargeFor = { kind: "model" };

const textIn = (value: Value | undefined) => (typeof value === "string" ? value : damaged("of a charge", value));
const integerIn = (value: Value | undefined) => (typeof value === "bigint" ? value : damaged("of a charge", value));
const wholeIn = (value: Value | undefined) => Number(integerIn(value));
const hashIn = (value: Value | undefined): Hex => (value === null ? NO_HASH : (textIn(value) as Hex));

// In one order whatever the database reads first.
const byAge = (a: Taken, b: Taken) => a.dueAtMs - b.dueAtMs || (a.id < b.id ? -1 : 1);

// From an index alone, and so maybe more than there are.
async function countDue(tx: Tx, accounts: readonly Address[], nowMs: number): Promise<number> {
  const [row] = await tx.all(
    `SELECT COUNT(*) AS charges FROM charges
     WHERE state = 'accrued' AND due_at <= $1 AND ${mayBeChargedToAny(accounts.length, 2)}`,
    [nowMs, ...accounts],
  );
  return count(row ?? {}, "charges");
}
