import { z } from "zod";
import type { OpenSubmission } from "../../ledger/ledger.ts";
import { address, count, hash, time, timeOf, usd } from "../shapes.ts";

const submissionSchema = z
  .object({
    id: hash,
    kind: z.enum(["settle", "payout", "filler", "answer"]),
    nonce: count.nullable(),
    state: z.enum(["planned", "submitted", "included", "reverted", "final", "abandoned"]),
    createdAt: time,
    txHash: hash.nullable(),
  })
  .meta({ id: "Submission" });

export function submissionView({ createdAtMs, ...submission }: OpenSubmission): z.infer<typeof submissionSchema> {
  return { ...submission, createdAt: timeOf(createdAtMs) };
}

export const operatorSchema = z
  .object({
    operator: address,
    balanceEth: z.string(),
    limitUsd: usd,
    leftUsd: usd,
    nonce: count,
    nextNonce: count,
    // Which process writes for this key; null for anybody who is not logged in.
    lease: z.object({ holder: z.string().nullable(), until: time }).nullable(),
    // The newest of them.
    openSubmissions: z.array(submissionSchema),
  })
  .meta({ id: "Operator" });

export type OperatorRow = z.infer<typeof operatorSchema>;
