import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";

// A client as strict as the stricter of the two public SDKs: unknown fields are fine, missing and mistyped ones are not. It
// sends what they send, repeats what they repeat, and reads errors as they do.

const usd = z.string().regex(/^\d+(\.\d+)?$/);
const time = z.iso.datetime();
// As RFC 9562 has them: strict readers refuse a version or a variant that there is not.
const uuid = z.uuid();
const percent = z
  .string()
  .regex(/^\d{1,3}(\.\d+)?$/)
  .refine((text) => Number(text) <= 100);

const session = z.looseObject({
  mode: z.literal("execute"),
  sessionId: uuid.nullable(),
  methodPrice: usd,
  spent: usd,
  remaining: usd.nullable(),
  maxSpend: usd.nullable(),
  status: z.enum(["open", "closed", "expired"]).optional(),
  expiresAt: time.optional(),
  closeRequested: z.boolean().optional(),
  pendingAccruedCount: z.int().optional(),
  pendingAccruedUsd: usd.optional(),
});

const hints = z.looseObject({
  maxRequestsPerMinute: z.int().optional(),
  cooldownMs: z.int().optional(),
  maxConcurrency: z.int().optional(),
  supportsBulk: z.boolean().optional(),
  recommendedBatchTools: z.array(z.string()).optional(),
  notes: z.string().optional(),
});

// The Python SDK also takes its own names of the fields, and the names of others must be texts that it can read.
const latency = z.enum(["instant", "fast", "slow", "streaming"]);
const meta = z
  .looseObject({
    surface: z.enum(["answer", "execute", "both"]).optional(),
    queryEligible: z.boolean().optional(),
    query_eligible: z.boolean().optional(),
    latencyClass: latency.optional(),
    latency_class: latency.optional(),
    pricing: z
      .looseObject({
        executeUsd: usd.optional(),
        execute_usd: usd.optional(),
        queryUsd: usd.optional(),
        query_usd: usd.optional(),
      })
      .optional(),
    executeEligible: z.boolean().optional(),
    execute_eligible: z.boolean().optional(),
    executePriceUsd: usd.nullable().optional(),
    execute_price_usd: usd.nullable().optional(),
    contextRequirements: z.array(z.string()).optional(),
    context_requirements: z.array(z.string()).optional(),
    rateLimit: hints.optional(),
    rate_limit: hints.optional(),
    rateLimitHints: hints.optional(),
    rate_limit_hints: hints.optional(),
  })
  .refine((fields) => Object.keys(fields).every((name) => name.isWellFormed()));

const method = z.looseObject({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()).optional(),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  _meta: meta.optional(),
  executeEligible: z.boolean().optional(),
  executePriceUsd: usd.nullable().optional(),
  hasStructuredGuidance: z.boolean().optional(),
  structuredGuidance: z
    .looseObject({
      callOrderHints: z.array(z.string()).optional(),
      parameterCaveats: z.array(z.string()).optional(),
      edgeCaseNotes: z.array(z.string()).optional(),
    })
    .optional(),
});

const prompt = z.looseObject({
  text: z.string(),
  source: z.enum(["contributor", "platform", "sdk"]),
  priceHint: z.string().optional(),
});

const tool = z.looseObject({
  id: uuid,
  name: z.string(),
  description: z.string(),
  price: usd,
  suggestedPrompts: z.array(prompt).optional(),
  category: z.string().nullable().optional(),
  isVerified: z.boolean().optional(),
  isProven: z.boolean().optional(),
  kind: z.literal("mcp").optional(),
  mcpTools: z.array(method).optional(),
  totalQueries: z.int().optional(),
  successRate: percent.optional(),
  uptimePercent: percent.optional(),
  totalStaked: usd.optional(),
});

const sessionAnswer = z.looseObject({ success: z.literal(true), mode: z.literal("execute"), session });

const executed = z.looseObject({
  success: z.literal(true),
  mode: z.literal("execute"),
  result: z.unknown(),
  tool: z.looseObject({ id: uuid, name: z.string() }),
  method: z.looseObject({ name: z.string(), executePriceUsd: usd }),
  session,
  durationMs: z.int(),
});

const found = z
  .looseObject({ tools: z.array(tool), mode: z.enum(["query", "execute"]), query: z.string(), count: z.int() })
  .refine(({ tools, count }) => tools.length === count);

const updated = z.looseObject({
  id: uuid,
  name: z.string(),
  description: z.string(),
  suggestedPrompts: z.array(prompt),
  category: z.string().nullable(),
  updatedAt: time,
});

const cost = z.looseObject({ modelCostUsd: usd, toolCostUsd: usd, totalCostUsd: usd });
const toolsUsed = z.array(z.looseObject({ id: z.string(), name: z.string(), skillCalls: z.int() }));
const outcomeType = z.enum(["answer", "capability_miss"]);
const stopReason = z.enum([
  "complete_answer",
  "bounded_runtime_budget",
  "bounded_same_endpoint_guardrail",
  "bounded_upstream_abort_guardrail",
  "bounded_explicit_empty_result_guardrail",
  "capability_miss",
]);
const issueClass = z.enum(["missing_evidence", "missing_capability", "stale_data", "wrong_tool_path"]).nullable();
const querySession = z.looseObject({
  sessionId: z.string(),
  attemptId: z.string(),
  parentAttemptId: z.string().nullable(),
  rootAttemptId: z.string(),
  mode: z.enum(["initial", "resume", "fork"]),
  origin: z.enum(["initial_request", "resume", "fork"]),
  status: z.enum(["active", "completed", "failed", "aborted"]),
  checkpoint: z.looseObject({
    currentStage: z.string().nullable(),
    latestCheckpointArtifactId: z.string().nullable(),
    canonicalDatasetId: z.string().nullable(),
    executionProgramCurrentRevisionId: z.string().nullable(),
  }),
});
const action = z.enum([
  "inspect_current_grounding",
  "patch_current_program",
  "bounded_rediscovery",
  "return_capability_miss",
  "return_bounded_answer",
  "return_complete_answer",
]);
const metrics = z.looseObject({
  parityStage: z.string(),
  orchestrationMode: z.enum(["auto_discovery", "manual_selected_tools"]),
  firstPassSuccess: z.boolean(),
  capabilityMissSignaled: z.boolean(),
  rediscoveryExecuted: z.boolean(),
});
const text = z.string().nullable();
const texts = z.array(z.string());

const failureSamples = z.array(z.looseObject({ toolName: z.string(), methodName: z.string(), reason: z.string() }));
const grounding = z.looseObject({
  availableToolCount: z.int(),
  availableMethodNamesSample: texts,
  selectedMethodCount: z.int(),
  selectedButFilteredOut: texts,
  toolCallCount: z.int(),
  toolCallAttemptCount: z.int(),
  toolCallSuccessCount: z.int(),
  toolCallFailureCount: z.int(),
  toolCallFailureSamples: failureSamples,
  grounded: z.boolean(),
});

const place = z.union([z.string(), z.number()]);
const axis = z.looseObject({
  type: z.enum(["time", "category", "number"]).optional(),
  label: z.string().optional(),
  format: z.enum(["number", "percent", "currency", "compact"]).optional(),
  valueScale: z.enum(["fraction", "percent_points"]).optional(),
});
const chart = z.looseObject({
  kind: z.literal("chart"),
  spec: z.looseObject({
    type: z.enum(["line", "bar", "area", "scatter", "composed", "histogram", "heatmap", "candlestick"]),
    xKey: z.string(),
    series: z.array(
      z.looseObject({
        key: z.string(),
        label: z.string().optional(),
        type: z.enum(["line", "bar", "area", "scatter"]).optional(),
        errorKey: z.string().optional(),
        yAxis: z.enum(["left", "right"]).optional(),
        satisfies: z.string().optional(),
      }),
    ),
    expectedMeasures: texts.optional(),
    xAxis: axis.optional(),
    yAxis: axis.optional(),
    yAxisRight: axis.optional(),
    legend: z.boolean().optional(),
    stacked: z.boolean().optional(),
    brush: z.boolean().optional(),
    referenceLines: z
      .array(z.looseObject({ axis: z.enum(["x", "y"]), value: place, label: z.string().optional() }))
      .optional(),
    referenceAreas: z
      .array(
        z.looseObject({
          x1: place.optional(),
          x2: place.optional(),
          y1: z.number().optional(),
          y2: z.number().optional(),
          label: z.string().optional(),
        }),
      )
      .optional(),
    yKey: z.string().optional(),
    valueKey: z.string().optional(),
    ohlc: z
      .looseObject({ openKey: z.string(), highKey: z.string(), lowKey: z.string(), closeKey: z.string() })
      .optional(),
  }),
  data: z.array(z.record(z.string(), z.union([z.string(), z.number(), z.null()]))),
  title: z.string().optional(),
});
const image = z.looseObject({
  kind: z.literal("image"),
  url: z.url(),
  alt: z.string().optional(),
  title: z.string().optional(),
  contentHash: z.string().optional(),
  bytes: z.int().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
});

const count = z.int().optional();
const level = z.enum(["high", "medium", "low"]);
// What a tool tells of a search of its own, and the developer's trace hands on.
const searchMetadata = z.looseObject({
  version: z.string(),
  outcome: z.enum(["selected", "shortlist_only", "capability_miss"]),
  confidence: level,
  selectedCandidateId: text.optional(),
  shortlistCandidateIds: texts.optional(),
  relatedCandidateIds: texts.optional(),
  rejectedCandidateIds: texts.optional(),
  candidateCount: z.int(),
  shortlistCount: z.int(),
  intentQueries: texts.optional(),
  judge: z.looseObject({ disabled: z.boolean(), applied: z.boolean() }),
  provenance: z.array(z.looseObject({ source: z.string(), query: z.string(), candidateCount: z.int() })),
  trace: z.looseObject({
    usedDeterministicFallback: z.boolean(),
    validatorStatus: z.enum(["accepted", "rejected", "not_run"]),
  }),
});
const diagnostics = z.looseObject({
  selection: z
    .looseObject({
      selectedPolicy: z.string(),
      plannerReasoningStage: z.string(),
      oneShotBias: z.boolean(),
      candidateMethodCount: z.int(),
      selectedTools: z.array(
        z.looseObject({
          toolId: z.string(),
          toolName: z.string(),
          selectedMethodCount: z.int(),
          selectedMethods: texts,
          omittedSelectedMethodCount: z.int(),
          priceUsd: usd.optional(),
        }),
      ),
    })
    .optional(),
  executionContract: z.looseObject({ plannerQuery: z.string(), allowedModules: texts }).optional(),
  cost: z
    .looseObject({
      planningCostUsd: z.number(),
      initialExecutionCostUsd: z.number(),
      rediscoveryAdditionalCostUsd: z.number(),
      synthesisCostUsd: z.number(),
      totalModelCostUsd: z.number(),
      toolCostUsd: z.number(),
      totalChargedUsd: z.number(),
    })
    .optional(),
  verification: z
    .looseObject({
      evaluations: z.array(z.unknown()),
      repairEvents: z.array(z.looseObject({ attempt: z.int(), outcome: z.string() })),
      triggerNeedsDifferentTools: z.boolean(),
      triggerMissingCapability: text,
    })
    .optional(),
  execution: z
    .looseObject({
      reasoningEnabled: z.boolean(),
      receivedReasoning: z.boolean(),
      reasoningChars: z.int(),
      stepBudget: z.int(),
      completedStepCount: z.int(),
      toolCallCount: z.int(),
      toolRegistry: z
        .looseObject({
          availableToolCount: z.int(),
          availableMethodNamesSample: texts,
          selectedMethodCount: z.int(),
          selectedButFilteredOut: texts,
          toolCallFailureSamples: failureSamples,
        })
        .optional(),
    })
    .optional(),
  contributorSearches: z
    .array(
      z.looseObject({
        toolId: z.string().optional(),
        toolName: z.string().optional(),
        timestampMs: count,
        searchMetadata,
      }),
    )
    .optional(),
});
const developerTrace = z.looseObject({
  summary: z.looseObject({
    toolCalls: count,
    retryCount: count,
    selfHealCount: count,
    fallbackCount: count,
    failureCount: count,
    recoveryCount: count,
    completionChecks: count,
    loopCount: count,
  }),
  timeline: z.array(
    z.looseObject({
      stepType: z.string(),
      event: z.string(),
      status: z.string(),
      message: z.string().optional(),
      timestampMs: z.int(),
      tool: z
        .looseObject({ id: z.string().optional(), name: z.string().optional(), method: z.string().optional() })
        .optional(),
      attempt: count,
      loop: z.looseObject({ name: z.string().optional(), iteration: count, maxIterations: count }).optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
  requestId: z.string(),
  query: z.string(),
  source: z.string(),
  diagnostics: diagnostics.optional(),
});

export const strictResult = z
  .looseObject({
    response: z.string(),
    toolsUsed,
    cost,
    durationMs: z.int(),
    outcomeType: outcomeType.optional(),
    capabilityMiss: z
      .looseObject({
        message: z.string(),
        missingCapabilities: z.array(z.string()),
        suggestedRewrites: z.array(z.string()),
        originalQuery: z.string(),
      })
      .optional(),
    assumptionMade: z
      .looseObject({ mode: z.literal("auto"), optionId: z.string(), label: z.string(), reason: z.string() })
      .optional(),
    dataUrl: z.url().optional(),
    computedArtifacts: z
      .array(z.discriminatedUnion("kind", [chart, image]))
      .max(4)
      .optional(),
    grounding: grounding.optional(),
    querySession: querySession.optional(),
    stopReason: stopReason.optional(),
    issueClass: issueClass.optional(),
    actionsTaken: z.array(action).optional(),
    developerTrace: developerTrace.optional(),
    orchestrationMetrics: metrics.optional(),
    responseShape: z.enum(["answer_with_evidence", "evidence_only"]).optional(),
    summary: z.string().optional(),
    outcome: z
      .looseObject({
        label: z.string(),
        tone: z.enum(["positive", "negative", "neutral", "caution"]),
        stopReason,
        issueClass,
      })
      .optional(),
    controller: z
      .looseObject({
        scope: z.enum(["wedge", "standard"]),
        nextAction: action,
        actionsTaken: z.array(action),
        patchFirstProgramPreserved: z.boolean(),
        executionProgramRevisionId: text,
        hardBudgetApplied: z.boolean(),
      })
      .nullable()
      .optional(),
    evidence: z
      .looseObject({
        facts: z.array(
          z.looseObject({
            id: z.string(),
            label: z.string(),
            path: text,
            relevanceScore: z.number().nullable(),
            value: z.unknown().refine((value) => value !== undefined),
          }),
        ),
        sourceRefs: z.array(
          z.looseObject({
            id: z.string(),
            provider: text,
            dataset: text,
            observedAt: text,
            publishedAt: text,
            artifactRef: text,
            url: text,
            note: text,
          }),
        ),
        assumptions: texts,
        knownUnknowns: texts,
        retrievalPlanReasonCodes: texts,
      })
      .optional(),
    artifacts: z
      .looseObject({
        dataUrl: text,
        canonicalDataRef: z
          .looseObject({ datasetId: z.string(), hash: z.string(), bytes: z.int(), publicDataUrl: text })
          .nullable(),
        stageArtifactKinds: texts,
      })
      .optional(),
    view: z
      .looseObject({
        type: z.enum(["table", "leaderboard", "heatmap", "timeseries"]),
        label: z.string(),
        title: text.optional(),
        columns: texts.optional(),
        rows: z.array(z.looseObject({ key: z.string(), cells: texts, sourceRefIds: texts.optional() })).optional(),
      })
      .nullable()
      .optional(),
    freshness: z.looseObject({ asOf: text, sourceTimestamps: texts, note: z.string() }).optional(),
    confidence: z
      .looseObject({
        level,
        reason: z.string(),
        verifiedFactCount: z.int(),
        inferredFactCount: z.int(),
        gapCount: z.int(),
        gapSignals: z.array(z.looseObject({ code: z.string(), severity: z.string(), detail: z.string() })),
      })
      .optional(),
    usage: z
      .looseObject({ durationMs: z.int(), cost, toolsUsed, outcomeType, orchestrationMetrics: metrics.optional() })
      .optional(),
  })
  .refine(({ outcomeType, capabilityMiss }) => outcomeType !== "capability_miss" || capabilityMiss !== undefined);
export type StrictResult = z.infer<typeof strictResult>;

const jobStatus = z.enum(["queued", "running", "completed", "failed"]);
const started = z.looseObject({ status: jobStatus, jobId: z.string(), createdAt: time, updatedAt: time });
const job = z.looseObject({
  status: jobStatus,
  jobId: z.string(),
  result: strictResult.nullable(),
  error: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  completedAt: time.nullable(),
});

// As the stricter SDK takes them apart: what is known must have its shape, what is not is skipped.
const event = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("tool-status"),
    status: z.string(),
    tool: z.looseObject({ id: z.string(), name: z.string() }),
  }),
  z.looseObject({ type: z.literal("text-delta"), delta: z.string() }),
  z.looseObject({ type: z.literal("developer-trace"), trace: developerTrace.partial() }),
  z.looseObject({
    type: z.literal("error"),
    error: z.string(),
    code: z.string().optional(),
    scope: z.string().optional(),
    reasonCode: z.string().optional(),
    querySession: querySession.optional(),
  }),
  z.looseObject({ type: z.literal("done"), result: strictResult }),
]);
export type StrictEvent = z.infer<typeof event>;

// An object would be thrown as the message.
const errorBody = z.looseObject({
  error: z.string().optional(),
  code: z.string().optional(),
  helpUrl: z.url().optional(),
});

// What the SDKs throw for a status outside of 2xx. What is no JSON says nothing but its status.
export class ContextError extends Error {
  readonly statusCode: number;
  readonly code: string | undefined;
  readonly helpUrl: string | undefined;

  constructor(statusCode: number, statusText: string, body: unknown) {
    const { error, code, helpUrl } = errorBody.parse(body ?? {});
    super(error || `HTTP ${statusCode}: ${statusText}`);
    this.statusCode = statusCode;
    this.code = error ? code : undefined;
    this.helpUrl = error ? helpUrl : undefined;
  }
}

// As Python's str.splitlines does, by which the stricter SDK reads a stream: at more characters than one would think.
export const splitLines = (text: string): string[] => text.split(LINE_BREAK);
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters.
const LINE_BREAK = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;

export type Sent = { method: string; path: string; status: number; replayed: boolean };

const RETRIES = 3;
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 10_000;

export type Question = string | { query: string; idempotencyKey?: string; [field: string]: unknown };

export function createStrictClient(
  baseUrl: string,
  apiKey: string,
  // Hears of every answer before it is read, with those before it.
  heard: (sent: readonly Sent[]) => void = () => undefined,
) {
  const sent: Sent[] = [];
  // How long the SDKs would have waited before each repetition. Here no time passes.
  const waitedMs: number[] = [];
  async function waitBefore(repetition: number): Promise<void> {
    waitedMs.push(Math.min(FIRST_WAIT_MS * 2 ** repetition, MAX_WAIT_MS));
    await pause(0);
  }

  async function request<T>(
    schema: z.ZodType<T>,
    path: string,
    options: RequestInit & { key?: string } = {},
  ): Promise<T> {
    const { key, method = "GET" } = options;
    const mayRepeat = method === "GET" || key !== undefined;
    for (let tries = 0; ; tries += 1) {
      let response: Response;
      try {
        response = await fetch(baseUrl + path, {
          ...options,
          headers: {
            authorization: `Bearer ${apiKey}`,
            "content-type": "application/json",
            ...(key !== undefined && { "idempotency-key": key }),
          },
          redirect: "error",
        });
      } catch (error) {
        if (!mayRepeat || tries === RETRIES) throw error;
        await waitBefore(tries);
        continue;
      }
      const replayed = response.headers.get("idempotency-replayed") === "true";
      sent.push({ method, path, status: response.status, replayed });
      heard(sent);
      const body: unknown = await response.json().catch(() => undefined);
      if (response.ok) {
        if (body === undefined) throw new Error("Failed to parse JSON response");
        if (path.startsWith("/api/v1/tools/execute") && typeof body === "object" && body !== null && "error" in body) {
          throw new Error("a success has a field error");
        }
        return schema.parse(body);
      }
      if (response.status < 500 || !mayRepeat || tries === RETRIES) {
        throw new ContextError(response.status, response.statusText, body);
      }
      await waitBefore(tries);
    }
  }

  const post = (body: object, key?: string) => ({
    method: "POST",
    body: JSON.stringify(body),
    ...(key !== undefined && { key }),
  });
  const question = (options: Question) => {
    const { idempotencyKey, ...body } = typeof options === "string" ? { query: options } : options;
    return { body, key: idempotencyKey as string | undefined };
  };

  async function* readEvents(options: Question): AsyncGenerator<StrictEvent> {
    const { body, key } = question(options);
    const response = await fetch(`${baseUrl}/api/v1/query`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        ...(key !== undefined && { "idempotency-key": key }),
      },
      body: JSON.stringify({ ...body, stream: true }),
    });
    if (!response.ok) throw new ContextError(response.status, response.statusText, await response.json());
    let rest = "";
    for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
      const lines = splitLines(rest + chunk);
      rest = lines.pop() ?? "";
      for (const line of lines.map((raw) => raw.trimEnd())) {
        if (!line.startsWith("data: ")) continue;
        const data = line.slice("data: ".length);
        if (data === "[DONE]") return;
        yield event.parse(JSON.parse(data));
      }
    }
  }

  const query = {
    start: (options: Question) => {
      const { body, key } = question(options);
      return request(started, "/api/v1/query/jobs", post(body, key));
    },
    getStatus: (jobId: string) => request(job, `/api/v1/query/jobs/${jobId}`),
    // The SDKs look at once and then every 5 s; where requests are held open nobody gets to wait.
    async poll(jobId: string): Promise<StrictResult> {
      for (;;) {
        const { status, result, error } = await query.getStatus(jobId);
        if (status === "failed") throw new Error(error ?? "failed");
        if (status === "completed") {
          if (result === null) throw new Error("completed without a result");
          return result;
        }
        await pause(0);
      }
    },
    run: async (options: Question) => query.poll((await query.start(options)).jobId),
    stream: readEvents,
  };

  const sessionPath = (id: string) => `/api/v1/tools/execute/sessions/${encodeURIComponent(id)}`;

  return {
    sent,
    waitedMs,
    tools: {
      startSession: (options: { maxSpendUsd: string }, key?: string) =>
        request(sessionAnswer, "/api/v1/tools/execute/sessions", post({ mode: "execute", ...options }, key)),
      getSession: (id: string) => request(sessionAnswer, sessionPath(id)),
      closeSession: (id: string) => request(sessionAnswer, `${sessionPath(id)}/close`, post({ mode: "execute" })),
      execute: ({ idempotencyKey, ...options }: { idempotencyKey?: string; [field: string]: unknown }) =>
        request(executed, "/api/v1/tools/execute", post({ mode: "execute", ...options }, idempotencyKey)),
    },
    query,
    discovery: {
      search: (parameters: Record<string, string>) =>
        request(found, `/api/v1/tools/search?${new URLSearchParams(parameters)}`),
      get: (id: string) => request(tool, `/api/v1/tools/${encodeURIComponent(id)}`),
    },
    developer: {
      updateTool: (id: string, updates: object) =>
        request(updated, `/api/v1/tools/${encodeURIComponent(id)}`, { method: "PATCH", body: JSON.stringify(updates) }),
    },
  };
}
