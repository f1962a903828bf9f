import { z } from "zod";
import * as field from "../../../settlement/daemon/http/fields.ts";
import type { MicroUsdc } from "../../../settlement/domain/money.ts";
import { type SignedBudget, signedFields, signedIn } from "../../settlement/signedBudget.ts";

const MAX_QUESTION_LENGTH = 4_000;
const MAX_TOOLS = 20;

const flag = z.boolean("must be true or false").nullish();
const handle = { sessionId: z.guid("must be a session's UUID"), attemptId: z.guid("must be an attempt's UUID") };
const toolId = z.guid("must be a tool's UUID").transform((text) => text.toLowerCase());

const FORK_REASONS = ["manual_fork", "bounded_rediscovery", "resume_replay", "patch_retry", "unknown"] as const;

// What every SDK from the first to the newest sends. What only older ones know is read and ignored.
export const queryBody = z
  .object({
    query: z
      .string("must be a text")
      .trim()
      .min(1, `must have 1 to ${MAX_QUESTION_LENGTH} characters`)
      .max(MAX_QUESTION_LENGTH, `must have 1 to ${MAX_QUESTION_LENGTH} characters`)
      .refine((text) => text.isWellFormed() && !text.includes("\0"), "must be well-formed Unicode")
      .meta({ examples: ["What does a transaction on Base cost now?"] }),
    tools: z
      .array(toolId, "must be a list of tools' UUIDs")
      .max(MAX_TOOLS, `has more than ${MAX_TOOLS} entries`)
      .nullish(),
    favoritesOnly: flag,
    agentModelId: field.text.nullish(),
    answerModelId: field.text.nullish(),
    responseShape: z
      .enum(
        ["answer_with_evidence", "evidence_only", "answer"],
        'must be "answer_with_evidence", "evidence_only" or "answer"',
      )
      .nullish(),
    includeData: flag,
    includeDataUrl: flag,
    includeDeveloperTrace: flag,
    resumeFrom: z.object(handle, "must be an object with sessionId and attemptId").nullish(),
    forkFrom: z
      .object(
        { ...handle, reason: z.enum(FORK_REASONS).nullish().catch("unknown") },
        "must be an object with sessionId and attemptId",
      )
      .nullish(),
    stream: flag,
    // Ours: the most that this turn may cost.
    maxCostUsd: field.usd.nullish(),
    // Ours: what the payer has signed for it.
    ...signedFields,
  })
  .refine(({ resumeFrom, tools, forkFrom }) => !resumeFrom || (!tools?.length && !forkFrom), {
    path: ["resumeFrom"],
    message: "goes on with the tools of its attempt; leave tools and forkFrom out",
  });

export type ResponseShape = "answer_with_evidence" | "evidence_only" | "answer";

// A question as the runtime takes it, with nothing left to be defaulted.
export type QueryRequest = {
  query: string;
  // Null: discover them.
  tools: readonly string[] | null;
  // Null: as the account says.
  favoritesOnly: boolean | null;
  agentModelId: string | null;
  responseShape: ResponseShape;
  includeData: boolean;
  includeDataUrl: boolean;
  includeDeveloperTrace: boolean;
  from: { mode: "resume" | "fork"; sessionId: string; attemptId: string } | null;
  // Null: as the account says.
  maxCost: MicroUsdc | null;
  // What the payer has signed for it, if anything.
  signed: SignedBudget | null;
};

export function requestOf(body: z.output<typeof queryBody>): QueryRequest {
  const { resumeFrom, forkFrom, tools } = body;
  const handles = resumeFrom ?? forkFrom ?? null;
  return {
    query: body.query,
    tools: tools && tools.length > 0 ? [...new Set(tools)] : null,
    favoritesOnly: body.favoritesOnly ?? null,
    agentModelId: body.agentModelId ?? body.answerModelId ?? null,
    responseShape: body.responseShape ?? "answer_with_evidence",
    includeData: body.includeData ?? false,
    includeDataUrl: body.includeDataUrl ?? false,
    includeDeveloperTrace: body.includeDeveloperTrace ?? false,
    from: handles && {
      mode: resumeFrom ? "resume" : "fork",
      sessionId: handles.sessionId.toLowerCase(),
      attemptId: handles.attemptId.toLowerCase(),
    },
    maxCost: body.maxCostUsd ?? null,
    signed: signedIn(body),
  };
}
