import { z } from "zod";

const text = z.string().nullish();
const texts = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);
const whole = z.int();
const wholeOrNone = whole.nullish();

// As the public SDKs read it. The Python one refuses a whole answer for one value of another type.
const schema = z.looseObject({
  version: z.literal("ctx-contributor-search/v1"),
  outcome: z.enum(["selected", "shortlist_only", "capability_miss"]),
  confidence: z.enum(["high", "medium", "low"]),
  selectedCandidateId: text,
  shortlistCandidateIds: texts,
  relatedCandidateIds: texts,
  rejectedCandidateIds: texts,
  candidateCount: whole,
  shortlistCount: whole,
  intentQueries: texts,
  degraded: z
    .looseObject({
      reasonCode: z.enum([
        "judge_disabled",
        "judge_missing",
        "judge_timeout",
        "judge_budget_exceeded",
        "judge_invalid_output",
        "judge_error",
        "validator_rejected",
        "ambiguous_shortlist",
        "no_viable_candidates",
      ]),
      message: z.string(),
    })
    .nullish(),
  judge: z.looseObject({
    provider: text,
    model: text,
    timeoutMs: wholeOrNone,
    budgetUsd: text,
    disabled: z.boolean(),
    applied: z.boolean(),
    usage: z
      .looseObject({
        promptTokens: wholeOrNone,
        completionTokens: wholeOrNone,
        totalTokens: wholeOrNone,
        costUsd: text,
        latencyMs: wholeOrNone,
      })
      .nullish(),
  }),
  provenance: z.array(z.looseObject({ source: z.string(), query: z.string(), candidateCount: whole })),
  trace: z.looseObject({
    usedDeterministicFallback: z.boolean(),
    validatorStatus: z.enum(["accepted", "rejected", "not_run"]),
    validatorReasonCode: text,
    validatorReason: text,
  }),
});

const MAX_LENGTH = 16_000;

// What a tool tells of a search of its own; null if it tells nothing, or nothing that a reader of traces could take.
export function readContributorSearch(value: unknown): object | null {
  if (typeof value !== "object" || value === null || !("searchMetadata" in value)) return null;
  const read = schema.safeParse(value.searchMetadata);
  return read.success && JSON.stringify(read.data).length <= MAX_LENGTH ? read.data : null;
}
