import { createHash } from "node:crypto";
import type { Address, Hex } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import type { Lease } from "../ledger.ts";
import type { Tx } from "../tx.ts";
import { lower } from "../validate.ts";
import { planSubmission } from "./planSubmission.ts";
import { freeCharges } from "./release.ts";
import { leasedSubmission } from "./submissions.ts";

// Again without effect once it is taken apart. A nonce that it already had goes to a planned `fill`, an empty transaction
// of the operator to itself, so that later nonces are not stuck behind it.
export async function unplanBatch(
  tx: Tx,
  lease: Lease,
  id: Hex,
  drop: readonly Address[],
  waitMs: number,
  nowMs: number,
): Promise<void> {
  const { kind, state, nonce, operator } = await leasedSubmission(tx, lease, id);
  if (state.kind === "released") return;
  if (kind !== "settle" || state.kind !== "planned") {
    throw new SettlementError(
      "invalid_input",
      `Submission ${id} is ${state.kind}: signed bytes of it may be on their way.`,
    );
  }
  for (const account of drop) await freeCharges(tx, id, nowMs + waitMs, lower(account));
  await freeCharges(tx, id, nowMs);
  await tx.run("UPDATE submissions SET state = 'released', nonce = NULL WHERE id = $1", [id]);
  if (nonce === null) return;
  await planSubmission(
    tx,
    lease,
    { id: fillIdOf(operator, nonce), kind: "fill", to: operator, calldata: "0x", nonce },
    nowMs,
  );
}

function fillIdOf(operator: Address, nonce: number): Hex {
  return `0x${createHash("sha256").update(`fill ${operator} ${nonce}`).digest("hex")}`;
}
