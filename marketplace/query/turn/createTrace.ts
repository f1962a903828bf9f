import type { Listing, Method } from "../../registry/listing.ts";
import type { CallFailure, Output } from "./createCaller.ts";
import { readContributorSearch } from "./readContributorSearch.ts";

type Step = {
  stepType: string;
  event: string;
  status: string;
  message?: string;
  timestampMs: number;
  tool?: { id: string; name: string; method?: string };
  metadata?: object;
};

type HistoryEntry = { toolId: string; toolName: string; args: unknown; result: unknown; isCodeInterpreter?: true };

export type Trace = {
  step(stepType: string, event: string, status: string, message?: string, metadata?: object): void;
  called(call: {
    listing: Listing;
    method: Method;
    args: Readonly<Record<string, unknown>>;
    output: Output;
    durationMs: number;
  }): void;
  // A call of what is the runtime's own.
  computed(call: {
    name: string;
    args: Readonly<Record<string, unknown>>;
    result: unknown;
    failed: boolean;
    artifactCount: number;
    durationMs: number;
  }): void;
  failed(failure: CallFailure & { durationMs: number }): void;
  retried(message: string): void;
  rediscovered(message: string): void;
  counts(): { retries: number; rediscoveries: number; failures: number };
  // As developers are shown it. `withoutOutputs`: nothing in it may tell what tools have answered.
  view(context: {
    query: string;
    requestId: string;
    executionSuccess: boolean;
    withoutOutputs: boolean;
    // How often a mistake may be repaired at the most.
    maxRepairs: number;
    // What the checks have found to be lacking in the answer, and what there was none for.
    gaps: readonly string[];
    missingCapability: string | null;
  }): Record<string, unknown> & { diagnostics: object };
};

// Of one answer in the trace; the whole is behind `dataUrl`.
const MAX_SHOWN_LENGTH = 4_000;
// In a step of the timeline, which has the same once more.
const MAX_STEP_LENGTH = 800;
const MAX_STEPS = 500;
const NO_CODE = "// iterative execution: no generated code";

// What was done in a turn, step by step.
export function createTrace(nowMs: () => number): Trace {
  const timeline: Step[] = [];
  const toolCallHistory: HistoryEntry[] = [];
  const executionTrace: object[] = [];
  const schemas = new Map<string, object>();
  const contributorSearches: object[] = [];
  const counts = { calls: 0, failures: 0, retries: 0, rediscoveries: 0, checks: 0 };
  const checks: { evaluation: string; status: string }[] = [];
  const repairs: { strategy: "patch" | "replan"; summary: string }[] = [];

  const add = (step: Omit<Step, "timestampMs">) => {
    if (timeline.length < MAX_STEPS) timeline.push({ ...step, timestampMs: nowMs() });
  };
  const toolOf = ({ toolId, name }: Listing, method: Method) => ({ id: toolId, name, method: method.name });

  return {
    step(stepType, event, status, message, metadata) {
      if (stepType === "completion-check") {
        counts.checks += 1;
        checks.push({ evaluation: event, status });
      }
      add({ stepType, event, status, ...(message !== undefined && { message }), ...(metadata && { metadata }) });
    },
    called({ listing, method, args, output, durationMs }) {
      counts.calls += 1;
      const searchMetadata = readContributorSearch(output.value);
      add({
        stepType: "tool-call",
        event: "tool-call",
        status: "success",
        tool: toolOf(listing, method),
        metadata: {
          args: shown(args, MAX_STEP_LENGTH),
          result: shown(output.value, MAX_STEP_LENGTH, output.text),
          outputAlias: output.alias,
          ...(searchMetadata && { contributorSearch: searchMetadata }),
        },
      });
      if (searchMetadata) {
        contributorSearches.push({
          toolId: listing.toolId,
          toolName: listing.name,
          timestampMs: nowMs(),
          searchMetadata,
        });
      }
      const result = shown(output.value, MAX_SHOWN_LENGTH, output.text);
      toolCallHistory.push({ toolId: listing.toolId, toolName: method.name, args, result });
      executionTrace.push({
        attempt: 1,
        phase: "execution",
        result: "success",
        durationMs,
        stepNumber: executionTrace.length + 1,
        toolName: method.name,
        outputAlias: output.alias,
      });
      schemas.set(`${listing.toolId} ${method.name}`, {
        serverName: listing.name,
        toolName: method.name,
        description: method.description,
        inputSchema: method.inputSchema,
        ...(method.outputSchema && { outputSchema: method.outputSchema }),
      });
    },
    computed({ name, args, result, failed, artifactCount, durationMs }) {
      const status = failed ? "failure" : "success";
      add({
        stepType: "tool-call",
        event: "tool-call",
        status,
        // Nobody's listing, so its name is its id.
        tool: { id: name, name },
        metadata: { args: shown(args, MAX_STEP_LENGTH), result: shown(result, MAX_STEP_LENGTH), artifactCount },
      });
      toolCallHistory.push({
        toolId: name,
        toolName: name,
        args,
        result: shown(result, MAX_SHOWN_LENGTH),
        isCodeInterpreter: true,
      });
      executionTrace.push({
        attempt: 1,
        phase: "execution",
        result: status,
        durationMs,
        stepNumber: executionTrace.length + 1,
        toolName: name,
        outputAlias: null,
        artifactCount,
      });
    },
    failed({ listing, method, cause, reason, durationMs }) {
      counts.failures += 1;
      add({
        stepType: "tool-call",
        event: "tool-call",
        status: "failure",
        message: reason,
        tool: toolOf(listing, method),
        metadata: { cause },
      });
      executionTrace.push({
        attempt: 1,
        phase: "execution",
        result: "failure",
        durationMs,
        stepNumber: executionTrace.length + 1,
        toolName: method.name,
        outputAlias: null,
      });
    },
    retried(message) {
      counts.retries += 1;
      repairs.push({ strategy: "patch", summary: message });
      add({ stepType: "retry", event: "reflection", status: "retry", message });
    },
    rediscovered(message) {
      counts.rediscoveries += 1;
      repairs.push({ strategy: "replan", summary: message });
      add({ stepType: "fallback", event: "bounded-rediscovery", status: "retry", message });
    },
    counts: () => ({ ...counts }),
    view: ({ query, requestId, executionSuccess, withoutOutputs, maxRepairs, gaps, missingCapability }) => {
      const verification = {
        evaluations: checks.map((check, i) => ({ ...check, gaps: i === checks.length - 1 ? gaps : [] })),
        // Only what can be told of each without an output, where nobody pays for that.
        repairEvents: repairs.slice(0, MAX_STEPS).map(({ strategy, summary }, i) => ({
          attempt: i + 1,
          outcome: executionSuccess ? "patched" : "attempted",
          semanticRetryCount: i + 1,
          maxSemanticRetries: maxRepairs,
          strategy,
          summary: withoutOutputs ? null : summary,
          failReason: null,
          requestedReplan: strategy === "replan",
          hadSyntaxFix: false,
          editCount: null,
          skipReason: null,
          boundedAnswerReason: null,
          blockingDiagnostics: [],
        })),
        triggerNeedsDifferentTools: counts.rediscoveries > 0,
        triggerMissingCapability: missingCapability,
      };
      return {
        summary: {
          toolCalls: counts.calls + counts.failures,
          retryCount: counts.retries,
          selfHealCount: counts.retries,
          fallbackCount: counts.rediscoveries,
          failureCount: counts.failures,
          recoveryCount: executionSuccess ? Math.min(counts.failures, counts.retries + counts.rediscoveries) : 0,
          completionChecks: counts.checks,
          loopCount: 1,
        },
        timeline: withoutOutputs ? timeline.map(withheldStep) : timeline,
        requestId,
        query,
        source: "backend-runtime",
        executionSuccess,
        // What the last call has brought.
        executionResult: withoutOutputs ? null : (toolCallHistory.at(-1)?.result ?? null),
        attemptCount: 1,
        toolCallHistory: withoutOutputs ? toolCallHistory.map(withheldCall) : toolCallHistory,
        toolSchemas: [...schemas.values()],
        executionTrace,
        verification,
        initialCode: NO_CODE,
        finalCode: NO_CODE,
        diagnostics: { contributorSearches: withoutOutputs ? [] : contributorSearches, verification },
      };
    },
  };
}

// Of outputs that nobody pays for. What was asked after the first of them may have come out of it, and so may whatever a model called,
// gave to Python or made a tool repeat: of a call it is said that it was made, and how it ended.
const WITHHELD = { withheld: true, reason: "nothing is charged, so that nothing of it is shown" };
const withheldCall = (call: HistoryEntry): HistoryEntry => ({ ...call, args: {}, result: WITHHELD });

function withheldStep({ message, metadata, ...step }: Step): Step {
  const isAboutCalls = step.stepType === "tool-call" || step.stepType === "retry";
  if (isAboutCalls) return step;
  return { ...step, ...(message !== undefined && { message }), ...(metadata && { metadata }) };
}

// What is long is shown by its beginning, in the form that readers of traces know.
function shown(value: unknown, maxLength: number, text = JSON.stringify(value ?? null)): unknown {
  return text.length <= maxLength ? (value ?? null) : { truncated: true, preview: text.slice(0, maxLength) };
}
