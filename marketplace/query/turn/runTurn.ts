import type { Address, Hex } from "viem";
import { formatUsd, type MicroUsdc, microUsdc, sumOf } from "../../../settlement/domain/money.ts";
import { schemaHashOf } from "../../execute/judgeAnswer.ts";
import type { Listing, Method } from "../../registry/listing.ts";
import { hashJson, hashText } from "../../schema/hashJson.ts";
import type { RecordTurn } from "../../settlement/createSettlementClient.ts";
import type { Interpreters } from "../interpreter/createInterpreters.ts";
import { wantsChart } from "../planner/createPlanner.ts";
import type { QueryRequest } from "../wire/request.ts";
import type { QueryResult, QuerySession } from "../wire/result.ts";
import type { Agent, Conclusion, Drawn, Earlier } from "./agent.ts";
import { composeResult, type Dataset } from "./composeResult.ts";
import { type Caller, type CallerOptions, createCaller } from "./createCaller.ts";
import type { Held } from "./createMemory.ts";
import { createTrace } from "./createTrace.ts";
import { lesser, type Selection } from "./selectTools.ts";

export type TurnTask = {
  account: Address;
  attemptId: string;
  request: QueryRequest;
  selection: Selection;
  // The most that the model may be charged in this turn.
  modelBound: MicroUsdc;
  // What was asked before in this session, oldest first.
  earlier: readonly Earlier[];
  session: QuerySession;
  // Room for what its tools answer, which is given back by whoever has no more use for the outcome.
  held: Held;
  // Hears what a model costs as it does, also if the turn comes to nothing.
  spend: (cost: MicroUsdc) => void;
  signal: AbortSignal;
  say: Say;
};

export type Say = (
  status: "discovering" | "discovered" | "planning" | "executing" | "tool-complete" | "synthesizing",
  tool?: { id: string; name: string },
) => void;

export type TurnOutcome = {
  result: QueryResult;
  // What is owed once the result is delivered; null if nothing is.
  turn: RecordTurn | null;
  // The tools that something is owed for.
  paidFor: readonly { listing: Listing; price: MicroUsdc }[];
  dataset: Dataset | null;
  images: readonly Drawn[];
};

export type TurnOptions = Omit<
  CallerOptions,
  "account" | "attemptId" | "bound" | "held" | "signal" | "trace" | "say"
> & {
  agentOf: (agentModelId: string | null) => Agent;
  // Where a dataset of that name can be had.
  dataUrlOf: (datasetId: string) => string;
  imageUrlOf: (hash: string) => string;
  // Null where nobody's code is run.
  interpreters: Interpreters | null;
};

// As the SDKs know it.
const NOT_CALLED = "runtime_did_not_invoke_selected_tools";
const NO_ANSWER = "outputs_do_not_answer";
const NOT_ANSWERED =
  "tools were asked, and what they said does not answer this question; nothing is charged, and nothing of it is shown";
const STEPS = 10;
const MORE_STEPS_FOR_A_CHART = 4;

// One turn: the tools that were selected are called as the agent decides, and what they said becomes the answer. Nothing is
// charged here; what is owed is handed back with the result, to be put on disk with it.
export async function runTurn(options: TurnOptions, task: TurnTask): Promise<TurnOutcome> {
  const { agentOf, nowMs, dataUrlOf } = options;
  const { request, selection, modelBound, earlier, held, signal, say, attemptId, account } = task;
  const startMs = performance.now();
  const trace = createTrace(nowMs);
  trace.step("orchestration", "query-start", "ok");
  say("discovering");
  for (const { listing } of selection.found) say("discovered", { id: listing.toolId, name: listing.name });
  trace.step("selection", "selected-tools", "ok", undefined, {
    selectedTools: selection.found.map(({ listing }) => ({ toolId: listing.toolId, toolName: listing.name })),
  });
  const caller = createCaller({ ...options, account, attemptId, bound: selection.bound, held, signal, trace, say });
  trace.step("execution-setup", "iterative-execution-entry", "ok");
  const stepBudget = STEPS + (wantsChart(request.query) ? MORE_STEPS_FOR_A_CHART : 0);
  const interpreter = options.interpreters?.open(signal, account) ?? null;
  const concluded = await agentOf(request.agentModelId)
    .conclude({
      query: request.query,
      earlier,
      found: selection.found,
      isNamed: selection.isManual,
      modelBound,
      stepBudget,
      caller,
      trace,
      nowMs,
      signal,
      say,
      interpreter,
      imageUrlOf: options.imageUrlOf,
      spend: task.spend,
    })
    .finally(() => interpreter?.dispose());
  // Without a call of a tool there is nothing behind an answer.
  const conclusion: Conclusion =
    concluded.kind === "miss"
      ? withheld(concluded, caller)
      : caller.outputs.length === 0
        ? {
            kind: "miss",
            message: "no tool was called, so there is nothing that an answer could rest on",
            missing: [NOT_CALLED],
            rewrites: [],
            issueClass: "missing_evidence",
            reasonCode: NOT_CALLED,
            modelId: concluded.modelId,
            modelCost: microUsdc(0n),
          }
        : concluded;
  const isAnswer = conclusion.kind === "answer";
  trace.step("execution-attempt", "execution", isAnswer ? "success" : "failure");
  trace.step("orchestration", isAnswer ? "query-complete" : "capability-miss", "success");

  // Nothing is charged for a miss, whatever was tried on the way to it.
  const charged = isAnswer ? caller.used() : [];
  const toolCost = sumOf(charged.map(({ price }) => price));
  // What a model took above its bound is the platform's loss.
  const modelCost = isAnswer ? lesser(conclusion.modelCost, modelBound) : microUsdc(0n);
  const total = microUsdc(toolCost + modelCost);
  const { result, dataset } = composeResult({
    ...task,
    conclusion,
    caller,
    trace,
    stepBudget,
    modelId: conclusion.modelId,
    cost: { modelCostUsd: formatUsd(modelCost), toolCostUsd: formatUsd(toolCost), totalCostUsd: formatUsd(total) },
    durationMs: Math.round(performance.now() - startMs),
    asOfMs: nowMs(),
    dataUrlOf,
  });
  const turn: RecordTurn = {
    turnId: attemptId,
    payer: account,
    outcome: "delivered",
    modelCostUsd: formatUsd(modelCost),
    tools: charged.map(({ listing, price, calls }) => ({
      toolId: listing.toolId,
      amountUsd: formatUsd(price),
      calls,
      schemaHash: schemaHashFor(
        caller.outputs.flatMap((output) => (output.listing.toolId === listing.toolId ? [output.method] : [])),
      ),
    })),
    requestHash: requestHashOf(request),
    responseHash: hashText(result.response),
    signed: request.signed,
  };
  const images = conclusion.kind === "answer" ? conclusion.images : [];
  const paidFor = charged.filter(({ price }) => price > 0n);
  return { result, turn: total > 0n ? turn : null, paidFor, dataset, images };
}

// Nothing is charged for a miss. One that comes after tools have answered is told in words of ours, because any others could be the answer.
const withheld = <T extends Extract<Conclusion, { kind: "miss" }>>(miss: T, { outputs }: Caller): T =>
  outputs.length === 0
    ? miss
    : { ...miss, message: NOT_ANSWERED, missing: [NO_ANSWER], rewrites: [], reasonCode: NO_ANSWER };

// What the methods that were called had promised, as the receipt names it: of one the hash that a call of it has, of several that
// of all of them by name.
function schemaHashFor(methods: readonly Method[]): Hex {
  const hashes = Object.fromEntries(methods.map((method) => [method.name, schemaHashOf(method)]));
  const [first, ...others] = Object.values(hashes);
  return first !== undefined && others.length === 0 ? first : hashJson(hashes);
}

// What was asked, as the receipt names it.
const requestHashOf = ({ query, tools, responseShape }: QueryRequest): Hex => hashJson({ query, tools, responseShape });
