import { hash } from "node:crypto";
import type { Hex } from "viem";
import { chargeIdOf, NO_HASH } from "../../domain/charges/charge.ts";
import { MAX_CALLS_PER_TURN, type Turn, type TurnHold, type TurnTool } from "../../domain/charges/turn.ts";
import { larger } from "../../domain/money.ts";
import type { BudgetOnChain } from "../../domain/payer/budget.ts";
import { type Credit, type CreditPolicy, type CreditRefusal, refuseCredit } from "../../domain/payer/credit.ts";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import { type Fingerprint, turnName } from "../archive/names.ts";
import { placesOf } from "../archive/places.ts";
import type { Conflict } from "../conflict.ts";
import { address, amount as amountIn, integer, text } from "../database/decode.ts";
import { allOf, askingWithin, firstOfAll, type Insertion, insertionsOf } from "../database/lists.ts";
import { chunksOf, type Param, placeholders } from "../database/sql.ts";
import { CREDIT_COLUMNS } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import {
  invalid,
  validAddress,
  validAmount,
  validCount,
  validHash,
  validName,
  validTime,
  validToolId,
} from "../validate.ts";
import { type DrawRefusal, readDraws } from "./drawTurns.ts";
import { type DeliveredCharge, type Delivery, insertCharges } from "./insertCharges.ts";
import { dropTurnHolds, readTurnHolds } from "./turnHolds.ts";

// On which terms a turn is recorded: how much credit its payer has, and what the chain said of its prepaid money, and at which block.
export type TurnTerms = { credit: CreditPolicy; prepaid: { amount: bigint; atBlock: bigint } | null };

// `onChain` is what the chain said of the budget that the turn draws on; `ruledOut`: places in the archive that have another turn of
// the same fingerprint.
export type ReportedTurn = {
  turn: Turn;
  nowMs: number;
  terms: TurnTerms | null;
  onChain: BudgetOnChain | null;
  ruledOut: readonly bigint[];
  // What follows from it. Hashed before it joins the others, so that no transaction is open meanwhile.
  charges: readonly DeliveredCharge[];
  chargeIds: Hex[];
  digest: Hex;
  name: Fingerprint;
};

// What is reported of a turn.
export type Report = {
  turn: Turn;
  terms?: TurnTerms | null;
  onChain?: BudgetOnChain | null;
  ruledOut?: readonly bigint[];
};

// The same turn again is `duplicate`; the same id with other contents is `conflict` and changes nothing.
export type TurnOutcome =
  | { kind: "recorded" | "duplicate"; chargeIds: Hex[] }
  // What the payer owes would come to more than its credit, as far as no prepaid money is known to cover it. What was said of that
  // before `takenAtBlock` is outdated.
  | ({ kind: "credit_exceeded"; takenAtBlock: bigint } & CreditRefusal)
  | DrawRefusal
  | Conflict;

// A turn of this name may be in the archive, and nothing was changed. Whoever asked looks there.
export type MaybeArchivedTurn = { kind: "archived"; places: readonly bigint[]; digest: Hex; chargeIds: Hex[] };

export function checkTurns(reports: readonly Report[], nowMs: number): ReportedTurn[] {
  validTime("now", nowMs);
  return reports.map((report) => checkTurn(report, nowMs));
}

// The same turn in one spelling: lower case, tools in order.
function checkTurn({ turn, terms = null, onChain = null, ruledOut = [] }: Report, nowMs: number): ReportedTurn {
  const id = validName("the turn's id", turn.id);
  const tools = turn.tools.map(checkTool).sort((a, b) => (a.toolId < b.toolId ? -1 : 1));
  if (new Set(tools.map(({ toolId }) => toolId)).size < tools.length) invalid(`turn ${id} names a tool twice`);
  const calls = tools.reduce((sum, tool) => sum + tool.calls, 0);
  if (calls > MAX_CALLS_PER_TURN) invalid(`turn ${id} has ${calls} calls; the most is ${MAX_CALLS_PER_TURN}`);
  const checked: Turn = {
    id,
    payer: validAddress("the payer", turn.payer),
    outcome: turn.outcome,
    modelCost: validAmount("the model cost", turn.modelCost),
    tools,
    requestHash: validHash("the request's hash", turn.requestHash),
    responseHash: validHash("the response's hash", turn.responseHash),
    budgetId: turn.budgetId ?? null,
  };
  const charges = chargesOf(checked);
  return {
    turn: checked,
    nowMs,
    terms,
    onChain,
    ruledOut,
    charges,
    chargeIds: charges.map((charge) => charge.id),
    digest: digestOf(checked),
    name: turnName(id),
  };
}

// What is not there is left out, so that it is not hashed. Assigned and not spread: every turn comes by here.
function checkTool({ toolId, amount, calls, schemaHash = NO_HASH }: TurnTool): TurnTool {
  const checked: TurnTool = {
    toolId: validToolId(toolId),
    amount: validAmount("a tool's amount", amount),
    calls: validCount("a tool's number of calls", calls),
  };
  if (schemaHash !== NO_HASH) checked.schemaHash = validHash("a tool's schema hash", schemaHash);
  return checked;
}

// Some milliseconds.
const TURNS_AT_ONCE = 500;

const TURNS: Insertion = {
  into: "turns",
  columns: { id: "TEXT", digest: "TEXT", charge_ids: "TEXT", recorded_at: "BIGINT" },
  tail: "ON CONFLICT (id) DO NOTHING RETURNING id",
};

// Turns that share a commit also share its statements, whoever reported them: they are recorded in the order of their ids, as on every
// other daemon. Of several with one id, the first is the one that is recorded. Payers are locked, so that the turns and calls of many
// daemons never come to more than their credit. Whoever reports thousands at once does not keep everybody else from running meanwhile.
export async function recordTurns(
  tx: Tx,
  reported: readonly (readonly ReportedTurn[])[],
): Promise<(TurnOutcome | MaybeArchivedTurn)[][]> {
  const inOrder = reported.flat().sort(({ turn: a }, { turn: b }) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const outcomes = new Map<ReportedTurn, TurnOutcome | MaybeArchivedTurn>();
  for (const some of chunksOf(inOrder, TURNS_AT_ONCE)) {
    if (outcomes.size > 0) await letOthersRun();
    const recorded = await recordSome(tx, some);
    for (const [i, one] of some.entries()) outcomes.set(one, recorded[i] as TurnOutcome | MaybeArchivedTurn);
  }
  return reported.map((own) => own.map((one) => outcomes.get(one) as TurnOutcome | MaybeArchivedTurn));
}

async function recordSome(tx: Tx, turns: readonly ReportedTurn[]): Promise<(TurnOutcome | MaybeArchivedTurn)[]> {
  const params: Param[] = [];
  for (const { turn, digest, chargeIds, nowMs } of turns) params.push(turn.id, digest, chargeIds.join(" "), nowMs);
  const inserting = firstOfAll(tx, insertionsOf(tx, TURNS, params));
  // Asked behind the insert, which waits for whoever is just archiving the same turn: before it, its name would be in neither.
  const archived = placesOf(
    tx,
    turns.map(({ name }) => name),
  );
  // All asked in one go, in this order.
  const [inserted, places, credits, draws, holdOf] = await Promise.all([
    inserting,
    archived,
    readCredits(tx, turns),
    readDraws(tx, turns),
    readTurnHolds(
      tx,
      turns.map(({ turn }) => turn),
    ),
  ]);
  const unseen = new Set(inserted);
  const captured: TurnHold[] = [];
  const refused = new Map<string, TurnOutcome>();
  const deliveries: Delivery[] = [];
  const outcomes: (TurnOutcome | MaybeArchivedTurn)[] = [];
  for (const { turn, nowMs, terms, onChain, ruledOut, charges, digest, name, chargeIds } of turns) {
    const before = refused.get(turn.id);
    if (before !== undefined) {
      outcomes.push(before);
      continue;
    }
    const candidates = places.get(name)?.filter((place) => !ruledOut.includes(place)) ?? [];
    const isNew = unseen.delete(turn.id);
    if (isNew && candidates.length > 0) await tx.run("DELETE FROM turns WHERE id = $1", [turn.id]);
    const [known] = isNew ? [] : await tx.all("SELECT digest FROM turns WHERE id = $1", [turn.id]);
    // Several may come with one id; the first of them has taken the row away again, and the others ask once more.
    if (known === undefined && (!isNew || candidates.length > 0)) {
      outcomes.push({ kind: "archived", places: [...ruledOut, ...candidates], digest, chargeIds });
      continue;
    }
    if (!isNew) {
      const same = known !== undefined && text(known, "digest") === digest;
      outcomes.push(same ? { kind: "duplicate", chargeIds } : { kind: "conflict" });
      continue;
    }
    const hold = holdOf(turn);
    const refusal =
      draws.refuse({ turn, nowMs, onChain, charges, hold }) ??
      refuseTurn(terms, credits.get(turn.payer), charges, hold);
    if (refusal !== null) {
      refused.set(turn.id, refusal);
      outcomes.push(refusal);
      continue;
    }
    draws.take({ turn, charges, hold });
    if (hold !== null) captured.push(hold);
    outcomes.push({ kind: "recorded", chargeIds });
    deliveries.push({
      turnId: turn.id,
      payer: turn.payer,
      budgetId: turn.budgetId ?? null,
      hashes: { request: turn.requestHash, response: turn.responseHash, schema: NO_HASH },
      accruedAtMs: nowMs,
      charges,
    });
  }
  for (const chunk of chunksOf([...refused.keys()])) {
    tx.send(`DELETE FROM turns WHERE id IN (${placeholders(chunk.length)})`, chunk);
  }
  insertCharges(tx, deliveries);
  dropTurnHolds(tx, captured);
  return outcomes;
}

const CREDITS = (list: string) => `SELECT ${CREDIT_COLUMNS} FROM payers WHERE payer ${list}`;

type CreditUsed = Omit<Credit, "prepaid"> & { takenAtBlock: bigint };

// Of the payers of turns that have terms, those of this transaction's other calls included.
async function readCredits(
  tx: Tx,
  turns: readonly Pick<ReportedTurn, "turn" | "terms">[],
): Promise<Map<string, CreditUsed>> {
  const payers = new Set(turns.flatMap(({ turn, terms }) => (terms === null ? [] : [turn.payer])));
  if (payers.size === 0) return new Map();
  // Whoever is locked was read with that.
  const locked = await tx.lockedPayers;
  const unread = [...payers].filter((payer) => !locked.has(payer));
  const rows = await allOf(tx, askingWithin(tx, "TEXT", unread, CREDITS));
  const read = new Map(rows.map((row) => [address(row, "payer"), row]));
  return new Map(
    [...payers].map((payer) => {
      const row = locked.get(payer) ?? read.get(payer);
      const own = tx.changeOf(payer);
      const committed = (row === undefined ? 0n : amountIn(row, "committed")) + own.pending + own.held;
      const settled = (row === undefined ? 0n : amountIn(row, "settled")) + own.settled;
      return [payer, { committed, settled, takenAtBlock: row === undefined ? 0n : integer(row, "taken_at_block") }];
    }),
  );
}

// Null if the turn is recorded; then the payer's credit is used from now on. What was held for it is committed already, and is what it
// may cost: only what is above that is asked about.
function refuseTurn(
  terms: TurnTerms | null,
  used: CreditUsed | undefined,
  charges: readonly DeliveredCharge[],
  hold: TurnHold | null,
): (TurnOutcome & { kind: "credit_exceeded" }) | null {
  if (terms === null || used === undefined) return null;
  const { credit, prepaid } = terms;
  const cost = charges.reduce((sum, { amount, state }) => (state === "accrued" ? sum + amount : sum), 0n);
  const covered = prepaid !== null && prepaid.atBlock >= used.takenAtBlock ? prepaid.amount : 0n;
  const more = cost - (hold?.amount ?? 0n);
  const refusal = refuseCredit(credit, { ...used, prepaid: covered }, larger(more, 0n));
  if (refusal !== null) return { kind: "credit_exceeded", takenAtBlock: used.takenAtBlock, ...refusal };
  used.committed += more;
  return null;
}

// A failed turn keeps its tools' fees as voided charges, so that what was waived can be seen. Nothing is charged for zero.
function chargesOf(turn: Turn): DeliveredCharge[] {
  const source = { kind: "turn", turnId: turn.id } as const;
  const state = turn.outcome === "failed" ? "voided" : "accrued";
  const charges: DeliveredCharge[] = [];
  for (const { toolId, amount, calls, schemaHash } of turn.tools) {
    if (amount === 0n) continue;
    const charge: DeliveredCharge = {
      id: chargeIdOf(source, { kind: "tool", toolId, calls }),
      toolId,
      calls,
      amount,
      state,
    };
    if (schemaHash !== undefined) charge.schemaHash = schemaHash;
    charges.push(charge);
  }
  if (turn.modelCost > 0n) {
    const id = chargeIdOf(source, { kind: "model" });
    charges.push({ id, toolId: null, calls: 0, amount: turn.modelCost, state: "accrued" });
  }
  return charges;
}

function digestOf(turn: Turn): Hex {
  const contents = [
    turn.payer,
    turn.outcome,
    turn.modelCost.toString(),
    turn.tools.map(({ toolId, amount, calls, schemaHash }) => [
      toolId,
      amount.toString(),
      calls,
      // Not written where there is none, so that what was recorded before is the same turn as ever.
      ...(schemaHash === undefined ? [] : [schemaHash]),
    ]),
    turn.requestHash,
    turn.responseHash,
    ...(turn.budgetId == null ? [] : [turn.budgetId.toString()]),
  ];
  return `0x${hash("sha256", JSON.stringify(contents))}`;
}
