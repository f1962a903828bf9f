import { hash } from "node:crypto";
import type { Hex } from "viem";
import { chargeIdOf, NO_HASH } from "../../domain/charge.ts";
import type { Turn } from "../../domain/turn.ts";
import { text } from "../decode.ts";
import type { Accruals } from "../ledger.ts";
import { evenChunksOf, type Param, tuples } from "../sql.ts";
import type { Tx } from "../tx.ts";
import { type DeliveredCharge, type Delivery, insertCharges } from "./insertCharges.ts";

// Valid and in one spelling.
export type ReportedTurn = { turn: Turn; nowMs: number };

type Outcome = Awaited<ReturnType<Accruals["recordTurn"]>>;

// Turns that share a commit also share its statements. Of several with one id, the first is the one that is recorded.
export async function recordTurns(tx: Tx, reported: readonly ReportedTurn[]): Promise<Outcome[]> {
  const turns = reported.map(({ turn, nowMs }) => {
    const charges = chargesOf(turn);
    return { turn, nowMs, charges, digest: digestOf(turn), chargeIds: charges.map(({ id }) => id) };
  });
  const unseen = new Set<string>();
  for (const chunk of evenChunksOf(turns)) {
    const params: Param[] = [];
    for (const { turn, digest, chargeIds, nowMs } of chunk) params.push(turn.id, digest, chargeIds.join(" "), nowMs);
    const inserted = await tx.all(
      `INSERT INTO turns (id, digest, charge_ids, recorded_at) VALUES ${tuples(chunk.length, 4)}
       ON CONFLICT (id) DO NOTHING
       RETURNING id`,
      params,
    );
    for (const row of inserted) unseen.add(text(row, "id"));
  }

  const deliveries: Delivery[] = [];
  const outcomes: Outcome[] = [];
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
  await insertCharges(tx, deliveries);
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
