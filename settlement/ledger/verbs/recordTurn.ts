import { hash } from "node:crypto";
import type { Hex } from "viem";
import { chargeIdOf, NO_HASH } from "../../domain/charge.ts";
import type { Turn } from "../../domain/turn.ts";
import { text } from "../decode.ts";
import type { Accruals } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { insertCharges, type NewCharge } from "./insertCharges.ts";

// `turn` is valid and in one spelling.
export async function recordTurn(tx: Tx, turn: Turn, nowMs: number): ReturnType<Accruals["recordTurn"]> {
  const digest = digestOf(turn);
  const charges = chargesOf(turn, nowMs);
  const chargeIds = charges.map(({ id }) => id);
  const inserted = await tx.run(
    "INSERT INTO turns (id, digest, charge_ids) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
    [turn.id, digest, chargeIds.join(" ")],
  );
  if (inserted === 0) {
    const [known] = await tx.all("SELECT digest FROM turns WHERE id = $1", [turn.id]);
    return known !== undefined && text(known, "digest") === digest
      ? { kind: "duplicate", chargeIds }
      : { kind: "conflict" };
  }
  if (charges.length > 0) await insertCharges(tx, charges);
  return { kind: "recorded", chargeIds };
}

// A failed turn keeps its tools' fees as voided charges, so that what was waived can be seen. Nothing is charged for zero.
function chargesOf(turn: Turn, nowMs: number): NewCharge[] {
  const common = {
    source: { turnId: turn.id },
    payer: turn.payer,
    hashes: { request: turn.requestHash, response: turn.responseHash, schema: NO_HASH },
    accruedAtMs: nowMs,
    dueAtMs: nowMs,
    waiting: false,
  };
  const source = { kind: "turn", turnId: turn.id } as const;
  const charges: NewCharge[] = turn.tools.map(({ toolId, amount, calls }) => ({
    ...common,
    id: chargeIdOf(source, { kind: "tool", toolId, calls }),
    toolId,
    calls,
    amount,
    state: turn.outcome === "failed" ? "voided" : "accrued",
  }));
  const id = chargeIdOf(source, { kind: "model" });
  charges.push({ ...common, id, toolId: null, calls: 0, amount: turn.modelCost, state: "accrued" });
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
