import { z } from "zod";

// What a question is answered with, as the public SDKs read it. The Python one refuses a whole answer for one value of
// another type, so the nulls are sent and nothing is left to chance.

const whole = z.int();
const usd = z.string();

export const costSchema = z.object({ modelCostUsd: usd, toolCostUsd: usd, totalCostUsd: usd });

const toolUsed = z.object({ id: z.string(), name: z.string(), skillCalls: whole });

export const STOP_REASONS = [
  "complete_answer",
  "bounded_runtime_budget",
  "bounded_same_endpoint_guardrail",
  "bounded_upstream_abort_guardrail",
  "bounded_explicit_empty_result_guardrail",
  "capability_miss",
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

export const ISSUE_CLASSES = ["missing_evidence", "missing_capability", "stale_data", "wrong_tool_path"] as const;
export type IssueClass = (typeof ISSUE_CLASSES)[number];

const ACTIONS = [
  "inspect_current_grounding",
  "patch_current_program",
  "bounded_rediscovery",
  "return_capability_miss",
  "return_bounded_answer",
  "return_complete_answer",
] as const;
export type Action = (typeof ACTIONS)[number];

export const missSchema = z.object({
  message: z.string(),
  missingCapabilities: z.array(z.string()),
  suggestedRewrites: z.array(z.string()),
  originalQuery: z.string(),
});

const stopReason = z.enum(STOP_REASONS);
const issueClass = z.enum(ISSUE_CLASSES).nullable();
const action = z.enum(ACTIONS);
const actionsTaken = z.array(action);

const factSchema = z.object({
  id: z.string(),
  label: z.string(),
  path: z.string(),
  relevanceScore: z.number(),
  value: z.unknown(),
});

const sourceRef = z.object({
  id: z.string(),
  provider: z.string(),
  dataset: z.string().nullable(),
  observedAt: z.string().nullable(),
  publishedAt: z.string().nullable(),
  artifactRef: z.string().nullable(),
  url: z.string().nullable(),
  note: z.string().nullable(),
});

const dataRef = z.object({ datasetId: z.string(), hash: z.string(), bytes: whole, publicDataUrl: z.string() });

export const viewSchema = z.object({
  type: z.enum(["table", "leaderboard", "heatmap", "timeseries"]),
  label: z.string(),
  title: z.string().optional(),
  columns: z.array(z.string()).optional(),
  rows: z
    .array(z.object({ key: z.string(), cells: z.array(z.string()), sourceRefIds: z.array(z.string()).optional() }))
    .optional(),
});
export type View = z.infer<typeof viewSchema>;

const MAX_NAME_LENGTH = 500;
const name = z.string().max(MAX_NAME_LENGTH);
const axis = z.object({
  type: z.enum(["time", "category", "number"]).optional(),
  label: name.optional(),
  format: z.enum(["number", "percent", "currency", "compact"]).optional(),
  valueScale: z.enum(["fraction", "percent_points"]).optional(),
});
const place = z.union([name, z.number()]);

export const chartSchema = z.object({
  kind: z.literal("chart"),
  spec: z.object({
    type: z.enum(["line", "bar", "area", "scatter", "composed", "histogram", "heatmap", "candlestick"]),
    xKey: name,
    series: z
      .array(
        z.object({
          key: name,
          label: name.optional(),
          type: z.enum(["line", "bar", "area", "scatter"]).optional(),
          errorKey: name.optional(),
          yAxis: z.enum(["left", "right"]).optional(),
          satisfies: name.optional(),
        }),
      )
      .max(20),
    expectedMeasures: z.array(name).max(20).optional(),
    xAxis: axis.optional(),
    yAxis: axis.optional(),
    yAxisRight: axis.optional(),
    legend: z.boolean().optional(),
    stacked: z.boolean().optional(),
    brush: z.boolean().optional(),
    referenceLines: z
      .array(z.object({ axis: z.enum(["x", "y"]), value: place, label: name.optional() }))
      .max(20)
      .optional(),
    referenceAreas: z
      .array(
        z.object({
          x1: place.optional(),
          x2: place.optional(),
          y1: z.number().optional(),
          y2: z.number().optional(),
          label: name.optional(),
        }),
      )
      .max(20)
      .optional(),
    yKey: name.optional(),
    valueKey: name.optional(),
    ohlc: z.object({ openKey: name, highKey: name, lowKey: name, closeKey: name }).optional(),
  }),
  data: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))).max(5_000),
  title: name.optional(),
});
export type Chart = z.infer<typeof chartSchema>;

export const imageSchema = z.object({
  kind: z.literal("image"),
  url: z.string(),
  alt: z.string().optional(),
  title: z.string().optional(),
  contentHash: z.string(),
  bytes: whole,
  width: whole,
  height: whole,
});

export const MAX_ARTIFACTS = 4;
export const artifactSchema = z.discriminatedUnion("kind", [chartSchema, imageSchema]);
export type Artifact = z.infer<typeof artifactSchema>;

const gapSignal = z.object({ code: z.string(), severity: z.enum(["low", "medium", "high"]), detail: z.string() });
export type GapSignal = z.infer<typeof gapSignal>;

export const CONFIDENCE_LEVELS = ["high", "medium", "low"] as const;
export type Level = (typeof CONFIDENCE_LEVELS)[number];

export const metricsSchema = z.object({
  parityStage: z.literal("enabled"),
  orchestrationMode: z.enum(["auto_discovery", "manual_selected_tools"]),
  firstPassSuccess: z.boolean(),
  capabilityMissSignaled: z.boolean(),
  rediscoveryExecuted: z.boolean(),
});

export const groundingSchema = z.object({
  availableToolCount: whole,
  selectedMethodCount: whole,
  toolCallCount: whole,
  toolCallAttemptCount: whole,
  toolCallSuccessCount: whole,
  toolCallFailureCount: whole,
  availableMethodNamesSample: z.array(z.string()),
  selectedButFilteredOut: z.array(z.string()),
  toolCallFailureSamples: z.array(z.object({ toolName: z.string(), methodName: z.string(), reason: z.string() })),
  grounded: z.boolean(),
});

export const querySessionSchema = z
  .object({
    sessionId: z.string(),
    attemptId: z.string(),
    parentAttemptId: z.string().nullable(),
    rootAttemptId: z.string(),
    mode: z.enum(["initial", "resume", "fork"]),
    origin: z.enum(["initial_request", "resume", "fork"]),
    status: z.enum(["active", "completed", "failed", "aborted"]),
    checkpoint: z.object({
      currentStage: z.string().nullable(),
      latestCheckpointArtifactId: z.string().nullable(),
      canonicalDatasetId: z.string().nullable(),
      executionProgramCurrentRevisionId: z.string().nullable(),
    }),
  })
  .meta({ id: "QuerySession" });
export type QuerySession = z.infer<typeof querySessionSchema>;

// What a developer is shown of a run. Keys that are not known here are the reader's to ignore.
const traceSchema = z.record(z.string(), z.unknown());

export const resultSchema = z
  .object({
    response: z.string(),
    toolsUsed: z.array(toolUsed),
    cost: costSchema,
    durationMs: whole,
    outcomeType: z.enum(["answer", "capability_miss"]),
    capabilityMiss: missSchema.optional(),
    assumptionMade: z
      .object({ mode: z.literal("auto"), optionId: z.string(), label: z.string(), reason: z.string() })
      .optional(),
    data: z.unknown().optional(),
    dataUrl: z.string().optional(),
    computedArtifacts: z.array(artifactSchema).max(MAX_ARTIFACTS).optional(),
    grounding: groundingSchema,
    querySession: querySessionSchema,
    stopReason,
    issueClass,
    actionsTaken,
    developerTrace: traceSchema.optional(),
    orchestrationMetrics: metricsSchema.optional(),
    // From here on the envelope, which the oldest shape does without.
    responseShape: z.enum(["answer_with_evidence", "evidence_only"]).optional(),
    summary: z.string().optional(),
    outcome: z
      .object({
        label: z.string(),
        tone: z.enum(["positive", "negative", "neutral", "caution"]),
        stopReason,
        issueClass,
      })
      .optional(),
    controller: z
      .object({
        scope: z.enum(["wedge", "standard"]),
        nextAction: action,
        actionsTaken,
        patchFirstProgramPreserved: z.boolean(),
        executionProgramRevisionId: z.string().nullable(),
        hardBudgetApplied: z.boolean(),
      })
      .nullable()
      .optional(),
    evidence: z
      .object({
        facts: z.array(factSchema),
        sourceRefs: z.array(sourceRef),
        assumptions: z.array(z.string()),
        knownUnknowns: z.array(z.string()),
        retrievalPlanReasonCodes: z.array(z.string()),
      })
      .optional(),
    artifacts: z
      .object({
        dataUrl: z.string().nullable(),
        canonicalDataRef: dataRef.nullable(),
        stageArtifactKinds: z.array(z.string()),
      })
      .optional(),
    view: viewSchema.nullable().optional(),
    freshness: z
      .object({ asOf: z.string().nullable(), sourceTimestamps: z.array(z.string()), note: z.string() })
      .optional(),
    confidence: z
      .object({
        level: z.enum(CONFIDENCE_LEVELS),
        reason: z.string(),
        verifiedFactCount: whole,
        inferredFactCount: whole,
        gapCount: whole,
        gapSignals: z.array(gapSignal),
      })
      .optional(),
    usage: z
      .object({
        durationMs: whole,
        cost: costSchema,
        toolsUsed: z.array(toolUsed),
        outcomeType: z.enum(["answer", "capability_miss"]),
        orchestrationMetrics: metricsSchema.optional(),
      })
      .optional(),
  })
  .meta({ id: "QueryResult" });

export type QueryResult = z.infer<typeof resultSchema>;
export type Fact = z.infer<typeof factSchema>;
