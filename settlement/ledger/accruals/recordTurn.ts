import { hash } from "node:crypto";
import type { Hex } from "viem";
import { chargeIdOf, NO_HASH } from "../../domain/charge.ts";
import { MAX_CALLS_PER_TURN, type Turn } from "../../domain/turn.ts";
import type { Conflict } from "../conflict.ts";
import { text } from "../database/decode.ts";
import { inEvenChunks, type Param, tuples } from "../database/sql.ts";
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
import { type DeliveredCharge, type Delivery, insertCharges } from "./insertCharges.ts";

export type ReportedTurn = { turn: Turn; nowMs: number };

// The same turn again is `duplicate`; the same id with other contents is `conflict` and changes nothing.
export type TurnOutcome = { kind: "recorded" | "duplicate"; chargeIds: Hex[] } | Conflict;

// The same turn in one spelling: lower case, tools in order.
export function checkTurn(turn: Turn, nowMs: number): ReportedTurn {
  const id = validName("the turn's id", turn.id);
  const tools = turn.tools
    .map(({ toolId, amount, calls }) => ({
      toolId: validToolId(toolId),
      amount: validAmount("a tool's amount", amount),
      calls: validCount("a tool's number of calls", calls),
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
    },
    nowMs: validTime("now", nowMs),
  };
}

// Turns that share a commit also share its statements. Of several with one id, the first is the one that is recorded.
export async function recordTurns(tx: Tx, reported: readonly ReportedTurn[]): Promise<TurnOutcome[]> {
  const turns = reported.map(({ turn, nowMs }) => {
    const charges = chargesOf(turn);
    return { turn, nowMs, charges, digest: digestOf(turn), chargeIds: charges.map(({ id }) => id) };
  });
  const inserted = await inEvenChunks(turns, (chunk) => {
    const params: Param[] = [];
    for (const { turn, digest, chargeIds, nowMs } of chunk) params.push(turn.id, digest, chargeIds.join(" "), nowMs);
    return tx.all(
      `INSERT INTO turns (id, digest, charge_ids, recorded_at) VALUES ${tuples(chunk.length, 4)}
       ON CONFLICT (id) DO NOTHING
       RETURNING id`,
      params,
    );
  });
  const unseen = new Set(inserted.map((row) => text(row, "id")));

  const deliveries: Delivery[] = [];
  const outcomes: TurnOutcome[] = [];
  for (const { turn, nowMs, charges, digest, chargeIds } of turns) {
    if (!unseen.delete(turn.id)) {
      const [known] = await tx.all("SELECT digest FROM turns WHERE id = $1", [turn.id]);
      const same = known !== undefined && text(known, "digest") === digest;
      outcomes.push(same ? { kind: "duplicate", chargeIds } : { kind: "conflict" });
      continue;
    }
    outcomes.push({ kind: "recorded", chargeIds });
    deliveries.push({
      source: { turnId: turn.id },
      payer: turn.payer,
      hashes: { request: turn.requestHash, response: turn.responseHash, schema: NO_HASH },
      accruedAtMs: nowMs,
      dueAtMs: nowMs,
      waiting: false,
      charges,
    });
  }
  insertCharges(tx, deliveries);
  return outcomes;
}

// A failed turn keeps its tools' fees as voided charges, so that what was waived can be seen. Nothing is charged for zero.
function chargesOf(turn: Turn): DeliveredCharge[] {
  const source = { kind: "turn", turnId: turn.id } as const;
  const charges: DeliveredCharge[] = turn.tools.map(({ toolId, amount, calls }) => ({
    id: chargeIdOf(source, { kind: "tool", toolId, calls }),
    toolId,
    calls,
    amount,
    state: turn.outcome === "failed" ? "voided" : "accrued",
  }));
  const id = chargeIdOf(source, { kind: "model" });
  charges.push({ id, toolId: null, calls: 0, amount: turn.modelCost, state: "accrued" });
  return charges.filter(({ amount }) => amount > 0n);
}

function digestOf(turn: Turn): Hex {
  const contents = [
    turn.payer,
    turn.outcome,
    turn.modelCost.toString(),
    turn.tools.map(({ toolId, amount, calls }) => [toolId, amount.toString(), calls]),
    turn.requestHash,
    turn.responseHash,
  ];
  return `0x${hash("sha256", JSON.stringify(contents))}`;
}
