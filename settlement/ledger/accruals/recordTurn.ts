import { hash } from "node:crypto";
import type { Hex } from "viem";
import type { BudgetOnChain } from "../../domain/budget.ts";
import { chargeIdOf, NO_HASH } from "../../domain/charge.ts";
import { type Credit, type CreditPolicy, type CreditRefusal, refuseCredit } from "../../domain/credit.ts";
import { letOthersRun } from "../../domain/letOthersRun.ts";
import { MAX_CALLS_PER_TURN, type Turn } from "../../domain/turn.ts";
import { turnName } from "../archive/names.ts";
import { placesOf } from "../archive/places.ts";
import type { Conflict } from "../conflict.ts";
import { address, amount as amountIn, integer, text } from "../database/decode.ts";
import { chunksOf, inEvenChunks, type Param, placeholders, tuples } from "../database/sql.ts";
import type { Tx } from "../database/tx.ts";
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

// The same turn in one spelling: lower case, tools in order.
export function checkTurn(
  turn: Turn,
  nowMs: number,
  terms: TurnTerms | null = null,
  onChain: BudgetOnChain | null = null,
  ruledOut: readonly bigint[] = [],
): ReportedTurn {
  const id = validName("the turn's id", turn.id);
  const tools = turn.tools
    .map(({ toolId, amount, calls, schemaHash = NO_HASH }) => ({
      toolId: validToolId(toolId),
      amount: validAmount("a tool's amount", amount),
      calls: validCount("a tool's number of calls", calls),
      ...(schemaHash !== NO_HASH && { schemaHash: validHash("a tool's schema hash", schemaHash) }),
    }))
    .sort((a, b) => (a.toolId < b.toolId ? -1 : 1));
  if (new Set(tools.map(({ toolId }) => toolId)).size < tools.length) invalid(`turn ${id} names a tool twice`);
  const calls = tools.reduce((sum, tool) => sum + tool.calls, 0);
  if (calls > MAX_CALLS_PER_TURN) invalid(`turn ${id} has ${calls} calls; the most is ${MAX_CALLS_PER_TURN}`);
  return {
    turn: {
      id,
      payer: validAddress("the payer", turn.payer),
      outcome: turn.outcome,
      modelCost: validAmount("the model cost", turn.modelCost),
      tools,
      requestHash: validHash("the request's hash", turn.requestHash),
      responseHash: validHash("the response's hash", turn.responseHash),
      budgetId: turn.budgetId ?? null,
    },
    nowMs: validTime("now", nowMs),
    terms,
    onChain,
    ruledOut,
  };
}

// Some milliseconds.
const TURNS_AT_ONCE = 500;

// Turns that share a commit also share its statements. Of several with one id, the first is the one that is recorded. Payers are
// locked, so that the turns and calls of many daemons never come to more than their credit. Whoever reports thousands at once does not
// keep everybody else from running meanwhile.
export async function recordTurns(
  tx: Tx,
  reported: readonly ReportedTurn[],
): Promise<(TurnOutcome | MaybeArchivedTurn)[]> {
  const outcomes: (TurnOutcome | MaybeArchivedTurn)[] = [];
  for (const some of chunksOf(reported, TURNS_AT_ONCE)) {
    if (outcomes.length > 0) await letOthersRun();
    outcomes.push(...(await recordSome(tx, some)));
  }
  return outcomes;
}

async function recordSome(tx: Tx, reported: readonly ReportedTurn[]): Promise<(TurnOutcome | MaybeArchivedTurn)[]> {
  const turns = reported.map(({ turn, nowMs, terms, onChain, ruledOut }) => {
    const charges = chargesOf(turn);
    const chargeIds = charges.map(({ id }) => id);
    const [digest, name] = [digestOf(turn), turnName(turn.id)];
    return { turn, nowMs, terms, onChain, ruledOut, charges, digest, name, chargeIds };
  });
  const inserting = inEvenChunks(turns, (chunk) => {
    const params: Param[] = [];
    for (const { turn, digest, chargeIds, nowMs } of chunk) params.push(turn.id, digest, chargeIds.join(" "), nowMs);
    return tx.all(
      `INSERT INTO turns (id, digest, charge_ids, recorded_at) VALUES ${tuples(chunk.length, 4)}
       ON CONFLICT (id) DO NOTHING
       RETURNING id`,
      params,
    );
  });
  // Asked behind the insert, which waits for whoever is just archiving the same turn: before it, its name would be in neither.
  const archived = placesOf(
    tx,
    turns.map(({ name }) => name),
  );
  const [inserted, places] = await Promise.all([inserting, archived]);
  const unseen = new Set(inserted.map((row) => text(row, "id")));

  const credits = await readCredits(tx, turns);
  const draws = await readDraws(tx, turns);
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
    const refusal =
      draws.refuse({ turn, nowMs, onChain, charges }) ?? refuseTurn(terms, credits.get(turn.payer), charges);
    if (refusal !== null) {
      refused.set(turn.id, refusal);
      outcomes.push(refusal);
      continue;
    }
    draws.take({ turn, charges });
    outcomes.push({ kind: "recorded", chargeIds });
    deliveries.push({
      source: { turnId: turn.id },
      payer: turn.payer,
      budgetId: turn.budgetId ?? null,
      hashes: { request: turn.requestHash, response: turn.responseHash, schema: NO_HASH },
      accruedAtMs: nowMs,
      dueAtMs: nowMs,
      waiting: false,
      charges,
    });
  }
  for (const chunk of chunksOf([...refused.keys()])) {
    tx.send(`DELETE FROM turns WHERE id IN (${placeholders(chunk.length)})`, chunk);
  }
  insertCharges(tx, deliveries);
  return outcomes;
}

type CreditUsed = Omit<Credit, "prepaid"> & { takenAtBlock: bigint };

// Of the payers of turns that have terms, those of this transaction's other calls included.
async function readCredits(
  tx: Tx,
  turns: readonly Pick<ReportedTurn, "turn" | "terms">[],
): Promise<Map<string, CreditUsed>> {
  const payers = new Set(turns.flatMap(({ turn, terms }) => (terms === null ? [] : [turn.payer])));
  const rows = await inEvenChunks([...payers], (chunk) =>
    tx.all(
      `SELECT payer, pending + held AS committed, settled, taken_at_block FROM payers WHERE payer IN ${tuples(1, chunk.length)}`,
      chunk,
    ),
  );
  const known = new Map(rows.map((row) => [address(row, "payer"), row]));
  return new Map(
    [...payers].map((payer) => {
      const row = known.get(payer);
      const own = tx.changeOf(payer);
      const committed = (row === undefined ? 0n : amountIn(row, "committed")) + own.pending + own.held;
      const settled = (row === undefined ? 0n : amountIn(row, "settled")) + own.settled;
      return [payer, { committed, settled, takenAtBlock: row === undefined ? 0n : integer(row, "taken_at_block") }];
    }),
  );
}

// Null if the turn is recorded; then the payer's credit is used from now on.
function refuseTurn(
  terms: TurnTerms | null,
  used: CreditUsed | undefined,
  charges: readonly DeliveredCharge[],
): (TurnOutcome & { kind: "credit_exceeded" }) | null {
  if (terms === null || used === undefined) return null;
  const { credit, prepaid } = terms;
  const cost = charges.reduce((sum, { amount, state }) => (state === "accrued" ? sum + amount : sum), 0n);
  const covered = prepaid !== null && prepaid.atBlock >= used.takenAtBlock ? prepaid.amount : 0n;
  const refusal = refuseCredit(credit, { ...used, prepaid: covered }, cost);
  if (refusal !== null) return { kind: "credit_exceeded", takenAtBlock: used.takenAtBlock, ...refusal };
  used.committed += cost;
  return null;
}

// A failed turn keeps its tools' fees as voided charges, so that what was waived can be seen. Nothing is charged for zero.
function chargesOf(turn: Turn): DeliveredCharge[] {
  const source = { kind: "turn", turnId: turn.id } as const;
  const charges: DeliveredCharge[] = turn.tools.map(({ toolId, amount, calls, schemaHash }) => ({
    id: chargeIdOf(source, { kind: "tool", toolId, calls }),
    toolId,
    calls,
    amount,
    ...(schemaHash !== undefined && { schemaHash }),
    state: turn.outcome === "failed" ? "voided" : "accrued",
  }));
  if (turn.modelCost > 0n) {
    const id = chargeIdOf(source, { kind: "model" });
    charges.push({ id, toolId: null, calls: 0, amount: turn.modelCost, state: "accrued" });
  }
  return charges.filter(({ amount }) => amount > 0n);
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
