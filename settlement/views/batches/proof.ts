import type { Hex } from "viem";
import { z } from "zod";
import type { Proof } from "../../engine/watch/prove.ts";
import { chargeSchema, chargeView } from "../charge.ts";
import { hash, time, timeOf } from "../shapes.ts";

export const proofSchema = z
  .object({
    charge: chargeSchema,
    receipt: z.string(),
    leaf: hash,
    root: hash,
    path: z.array(hash),
    // Null while the chain has not settled the root.
    settledAt: time.nullable(),
  })
  .meta({ id: "Proof" });

export type ProofView = z.infer<typeof proofSchema>;

export function proofView({ charge, receipt, leaf, root, path, settledAt }: Proof): ProofView {
  return {
    charge: chargeView(charge),
    receipt,
    leaf,
    root,
    path: [...path],
    settledAt: settledAt === 0n ? null : timeOf(Number(settledAt) * 1_000),
  };
}

export const noReceipt = (batchId: Hex) =>
  `batch ${batchId} paid for the charge and was taken in from the chain; it has no receipt of it`;
