import { hash, randomBytes } from "node:crypto";
import { formatUsd } from "../../../settlement/domain/money.ts";
import { sentenceOf } from "../../../settlement/domain/text/sentence.ts";
import type { Found } from "../../discovery/createCatalogue.ts";
import type { QueryRequest } from "../wire/request.ts";
import type { Action, Fact, QueryResult, QuerySession, StopReason } from "../wire/result.ts";
import type { Conclusion, GroundedFact } from "./agent.ts";
import type { Caller, FailureCause, Output } from "./createCaller.ts";
import type { Trace } from "./createTrace.ts";
import { inertLine } from "./inert.ts";
import type { Selection } from "./selectTools.ts";

// All that the tools of a turn have said, to be had at an address of its own.
export type Dataset = { datasetId: string; hash: string; bytes: number; text: string };

const MAX_INLINE_BYTES = 64 * 1024;
const PREVIEW_LENGTH = 4_000;
const MAX_FACTS = 100;
// Of all facts together, as JSON. What is longer is shown by its beginning; the whole is to be had as data.
const MAX_FACTS_LENGTH = 256 * 1024;
const MAX_PREVIEW_LENGTH = 8 * 1024;
const MAX_SAMPLES = 10;
const MAX_NAMES = 50;
const MAX_SELECTED = 12;

const LAST_ACTIONS: Partial<Record<StopReason, Action>> = {
  complete_answer: "return_complete_answer",
  capability_miss: "return_capability_miss",
};

type Parts = {
  attemptId: string;
  request: QueryRequest;
  selection: Selection;
  session: QuerySession;
  conclusion: Conclusion;
  caller: Caller;
  trace: Trace;
  stepBudget: number;
  modelId: string | null;
  cost: QueryResult["cost"];
  durationMs: number;
  asOfMs: number;
  dataUrlOf: (datasetId: string) => string;
};

// Everything that is known of a turn, as the SDKs read it.
export function composeResult(parts: Parts): { result: QueryResult; dataset: Dataset | null } {
  const { request, selection, conclusion, caller, trace, cost, durationMs, session, asOfMs } = parts;
  const isAnswer = conclusion.kind === "answer";
  const outcomeType = isAnswer ? ("answer" as const) : ("capability_miss" as const);
  const used = isAnswer ? caller.used() : [];
  const toolsUsed = used.map(({ listing, calls }) => ({ id: listing.toolId, name: listing.name, skillCalls: calls }));
  const outputs = isAnswer ? caller.outputs : [];
  const { retries, rediscoveries } = trace.counts();
  const stopReason = isAnswer ? conclusion.stopReason : "capability_miss";
  const lastAction = LAST_ACTIONS[stopReason] ?? "return_bounded_answer";
  const actionsTaken: Action[] = [
    "inspect_current_grounding",
    ...(retries > 0 ? (["patch_current_program"] as const) : []),
    ...(rediscoveries > 0 ? (["bounded_rediscovery"] as const) : []),
    lastAction,
  ];
  const { issueClass } = conclusion;
  const metrics = request.includeDeveloperTrace && {
    parityStage: "enabled" as const,
    orchestrationMode: selection.isManual ? ("manual_selected_tools" as const) : ("auto_discovery" as const),
    firstPassSuccess: isAnswer && retries + rediscoveries === 0,
    capabilityMissSignaled: !isAnswer,
    rediscoveryExecuted: rediscoveries > 0,
  };
  const dataset = isAnswer && (request.includeDataUrl || request.includeData) ? datasetOf(outputs) : null;
  const dataUrl = dataset === null ? null : parts.dataUrlOf(dataset.datasetId);
  const needsUrl = dataset !== null && (request.includeDataUrl || dataset.bytes > MAX_INLINE_BYTES);
  const facts = isAnswer ? factsView(conclusion.facts.slice(0, MAX_FACTS)) : [];
  const text = isAnswer ? conclusion.text : sentenceOf(conclusion.message);
  const response = request.responseShape === "evidence_only" ? summaryOf(facts, text) : text;
  const assumptions = isAnswer ? [...conclusion.assumptions] : [];
  const [assumption] = assumptions;
  const artifacts = isAnswer ? [...conclusion.artifacts] : [];
  const grounding = groundingOf(parts);

  const core = {
    response,
    toolsUsed,
    cost,
    durationMs,
    outcomeType,
    ...(conclusion.kind === "miss" && {
      capabilityMiss: {
        message: sentenceOf(messageOf(conclusion.message, selection)),
        missingCapabilities: [...conclusion.missing],
        suggestedRewrites: [...conclusion.rewrites],
        originalQuery: request.query,
      },
    }),
    ...(assumption !== undefined && {
      assumptionMade: {
        mode: "auto" as const,
        optionId: "best_reading",
        label: assumption,
        reason: sentenceOf(assumption),
      },
    }),
    ...(request.includeData && dataset !== null && { data: dataOf(dataset, outputs, parts.dataUrlOf) }),
    ...(request.includeDataUrl && dataUrl !== null && { dataUrl }),
    ...(artifacts.length > 0 && { computedArtifacts: artifacts }),
    grounding,
    querySession: {
      ...session,
      status: "completed" as const,
      checkpoint: { ...session.checkpoint, currentStage: "completed", canonicalDatasetId: dataset?.datasetId ?? null },
    },
    stopReason,
    issueClass,
    actionsTaken,
    ...(request.includeDeveloperTrace && { developerTrace: traceOf(parts, grounding) }),
    ...(metrics && { orchestrationMetrics: metrics }),
  } satisfies QueryResult;
  const kept = needsUrl ? dataset : null;
  if (request.responseShape === "answer") return { result: core, dataset: kept };

  const gaps = isAnswer ? [...conclusion.gaps] : [];
  const times = outputs.map(({ atMs }) => new Date(atMs).toISOString());
  const newest = times.at(-1);
  const result: QueryResult = {
    ...core,
    responseShape: request.responseShape,
    summary: text.length <= 300 ? text : `${text.slice(0, 300)}…`,
    outcome: outcomeOf(conclusion, gaps.length),
    controller: {
      scope: "standard",
      // The turn is over, so what was done last is what was next.
      nextAction: lastAction,
      actionsTaken,
      patchFirstProgramPreserved: retries === 0,
      executionProgramRevisionId: null,
      hardBudgetApplied: isAnswer && conclusion.stopReason === "bounded_runtime_budget",
    },
    evidence: {
      facts,
      sourceRefs: outputs.map((output) => ({
        id: output.alias,
        provider: output.listing.name,
        dataset: output.method.name,
        observedAt: new Date(output.atMs).toISOString(),
        publishedAt: null,
        artifactRef: output.alias,
        // Where it stands under that name, for those who asked for an address.
        url: needsUrl ? dataUrl : null,
        // What was asked of it, which tells calls of one method apart.
        note: askedOf(output),
      })),
      assumptions,
      knownUnknowns: isAnswer
        ? gaps.map(({ detail }) => detail)
        : conclusion.missing.filter((capability) => capability !== conclusion.reasonCode),
      retrievalPlanReasonCodes: isAnswer ? [parts.modelId === null ? "rules" : "model"] : [conclusion.reasonCode],
    },
    artifacts: {
      dataUrl: needsUrl ? dataUrl : null,
      canonicalDataRef:
        needsUrl && dataset !== null && dataUrl !== null
          ? { datasetId: dataset.datasetId, hash: dataset.hash, bytes: dataset.bytes, publicDataUrl: dataUrl }
          : null,
      stageArtifactKinds: artifacts.map(({ kind }) => kind),
    },
    view: isAnswer ? conclusion.view : null,
    freshness: {
      asOf: newest ?? new Date(asOfMs).toISOString(),
      sourceTimestamps: times,
      note: newest === undefined ? "no tool was asked" : `a tool was last asked at ${newest}`,
    },
    confidence: {
      level: isAnswer ? conclusion.level : "low",
      reason: isAnswer ? conclusion.reason : "the question was not answered",
      verifiedFactCount: facts.length,
      inferredFactCount: isAnswer ? conclusion.inferred : 0,
      gapCount: gaps.length,
      gapSignals: gaps,
    },
    usage: { durationMs, cost, toolsUsed, outcomeType, ...(metrics && { orchestrationMetrics: metrics }) },
  };
  return { result, dataset: kept };
}

// The most relevant come first, and have the room that there is.
function factsView(facts: readonly GroundedFact[]): Fact[] {
  let room = MAX_FACTS_LENGTH;
  return facts.map((fact, index) => {
    const length = lengthOf(fact.value, room);
    const isWhole = length <= room;
    room -= isWhole ? length : Math.min(room, MAX_PREVIEW_LENGTH);
    return {
      id: `fact_${index + 1}`,
      label: fact.label,
      path: `${fact.alias}.${fact.path}`,
      relevanceScore: Math.min(1, Math.round((fact.relevance / (fact.relevance + 1)) * 1_000) / 1_000),
      value: isWhole ? (fact.value ?? null) : beginningOf(fact.value, Math.min(room, MAX_PREVIEW_LENGTH)),
    };
  });
}

// About how long a value is as JSON; of one that is longer than `most` only that it is.
function lengthOf(value: unknown, most: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return String(value).length;
  let length = 2;
  for (const [name, inner] of Object.entries(value)) {
    length += (Array.isArray(value) ? 1 : name.length + 4) + lengthOf(inner, most - length);
    if (length > most) break;
  }
  return length;
}

// In the form that readers of traces know.
function beginningOf(value: unknown, most: number): object {
  if (!Array.isArray(value)) {
    return { truncated: true, preview: (typeof value === "string" ? value : JSON.stringify(value)).slice(0, most) };
  }
  const preview: unknown[] = [];
  for (let length = 0; preview.length < value.length; ) {
    const next = value[preview.length];
    length += lengthOf(next, most) + 1;
    if (length > most) break;
    preview.push(next);
  }
  return { truncated: true, count: value.length, preview };
}

// For programs: the facts, without prose.
const summaryOf = (facts: readonly Fact[], text: string) =>
  facts.length === 0
    ? text
    : JSON.stringify(Object.fromEntries(facts.slice(0, 20).map(({ path, value }) => [path, value])));

function outcomeOf(conclusion: Conclusion, gaps: number): NonNullable<QueryResult["outcome"]> {
  const { issueClass } = conclusion;
  if (conclusion.kind === "miss") {
    return { label: "Capability miss", tone: "neutral", stopReason: "capability_miss", issueClass };
  }
  const { stopReason } = conclusion;
  if (stopReason !== "complete_answer") return { label: "Bounded answer", tone: "caution", stopReason, issueClass };
  return gaps > 0
    ? { label: "Complete answer with disclosed gaps", tone: "caution", stopReason, issueClass }
    : { label: "Complete answer", tone: "positive", stopReason, issueClass };
}

function messageOf(message: string, { filteredOut }: Selection): string {
  if (filteredOut.length === 0) return message;
  const names = filteredOut.slice(0, 5).map(({ listing }) => listing.name);
  return `${message}; ${names.join(", ")} cost more than this turn may`;
}

// Tools have answered, and nobody pays for it.
export const isWithheld = ({ conclusion, caller }: Pick<Parts, "conclusion" | "caller">): boolean =>
  conclusion.kind === "miss" && caller.outputs.length > 0;

const FAILURES: Readonly<Record<FailureCause, string>> = {
  shape: "it refused the arguments",
  infrastructure: "it could not be used",
  bound: "the turn could not go on with it",
  person: "it wants a signature or a login",
  promise: "it answered something else than it promises",
};

const namesOf = (found: readonly Found[]) =>
  found.flatMap(({ listing, methods }) => methods.map(({ name }) => `${listing.name}.${name}`));

// What stands behind the answer. What the SDKs call a tool here is a method that could have been called.
function groundingOf({ selection, caller, conclusion }: Parts): QueryResult["grounding"] {
  const available = namesOf(selection.found);
  const filteredOut = namesOf(selection.filteredOut);
  return {
    availableToolCount: available.length,
    selectedMethodCount: available.length + filteredOut.length,
    toolCallCount: caller.outputs.length,
    toolCallAttemptCount: caller.attempts(),
    toolCallSuccessCount: caller.outputs.length,
    toolCallFailureCount: caller.failures.length,
    availableMethodNamesSample: available.slice(0, MAX_NAMES),
    selectedButFilteredOut: filteredOut.slice(0, MAX_NAMES),
    toolCallFailureSamples: caller.failures.slice(0, MAX_SAMPLES).map(({ listing, method, cause, reason }) => ({
      toolName: listing.name,
      methodName: method.name,
      // A tool may repeat what it was asked, which may be what another one has answered.
      reason: isWithheld({ conclusion, caller }) ? FAILURES[cause] : reason,
    })),
    grounded: conclusion.kind === "answer" && caller.outputs.length > 0,
  };
}

const MAX_NOTE_LENGTH = 300;

function askedOf({ args }: Output): string | null {
  const asked = Object.entries(args).map(
    ([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return asked.length === 0 ? null : inertLine(asked.join(", ").slice(0, MAX_NOTE_LENGTH));
}

function datasetOf(outputs: readonly Output[]): Dataset {
  const items = outputs.map(
    ({ alias, listing, method, args, text }) =>
      `{"alias":${JSON.stringify(alias)},"tool":${JSON.stringify({ id: listing.toolId, name: listing.name })},"method":${JSON.stringify(method.name)},"args":${JSON.stringify(args)},"result":${text}}`,
  );
  const text = `{"outputs":[${items.join(",")}]}`;
  const bytes = Buffer.byteLength(text);
  return { datasetId: randomBytes(24).toString("base64url"), hash: hash("sha256", text), bytes, text };
}

// What fits is sent; of more there is the beginning and an address.
function dataOf(dataset: Dataset, outputs: readonly Output[], dataUrlOf: Parts["dataUrlOf"]): unknown {
  const { datasetId, hash, bytes, text } = dataset;
  if (bytes <= MAX_INLINE_BYTES) {
    return {
      outputs: outputs.map(({ alias, listing, method, args, value }) => ({
        alias,
        tool: { id: listing.toolId, name: listing.name },
        method: method.name,
        args,
        result: value ?? null,
      })),
    };
  }
  const dataUrl = dataUrlOf(datasetId);
  return {
    truncated: true,
    preview: text.slice(0, PREVIEW_LENGTH),
    fullData: { dataUrl, canonicalDataRef: { datasetId, hash, bytes, publicDataUrl: dataUrl } },
  };
}

function traceOf(parts: Parts, { grounded, toolCallCount, ...registry }: QueryResult["grounding"]) {
  const { trace, request, attemptId, caller, selection, stepBudget, modelId, cost, conclusion } = parts;
  const view = trace.view({
    query: request.query,
    requestId: attemptId,
    executionSuccess: conclusion.kind === "answer",
    withoutOutputs: isWithheld(parts),
    maxRepairs: stepBudget,
    gaps: conclusion.kind === "answer" ? conclusion.gaps.map(({ detail }) => detail) : [],
    missingCapability: conclusion.kind === "miss" ? (conclusion.missing[0] ?? conclusion.message) : null,
  });
  return {
    ...view,
    diagnostics: {
      ...view.diagnostics,
      selection: {
        selectedPolicy: selection.isManual ? "manual" : "search",
        plannerReasoningStage: modelId === null ? "rules" : "model",
        oneShotBias: false,
        candidateMethodCount: selection.found.reduce((sum, { methods }) => sum + methods.length, 0),
        selectedTools: selection.found.map(({ listing, methods }) => ({
          toolId: listing.toolId,
          toolName: listing.name,
          priceUsd: formatUsd(listing.price),
          selectedMethodCount: methods.length,
          selectedMethods: methods.slice(0, MAX_SELECTED).map(({ name }) => name),
          omittedSelectedMethodCount: Math.max(0, methods.length - MAX_SELECTED),
        })),
      },
      executionContract: { plannerQuery: request.query, allowedModules: [] },
      // Numbers for reading, not for paying.
      cost: {
        planningCostUsd: 0,
        initialExecutionCostUsd: Number(cost.modelCostUsd),
        rediscoveryAdditionalCostUsd: 0,
        synthesisCostUsd: 0,
        totalModelCostUsd: Number(cost.modelCostUsd),
        toolCostUsd: Number(cost.toolCostUsd),
        totalChargedUsd: Number(cost.totalCostUsd),
      },
      execution: {
        // The trace says so where no model was used.
        model: modelId,
        modelUsed: modelId !== null,
        reasoningEnabled: false,
        receivedReasoning: false,
        reasoningChars: 0,
        stepBudget,
        completedStepCount: caller.outputs.length,
        toolCallCount: caller.attempts(),
        toolRegistry: registry,
      },
    },
  };
}
