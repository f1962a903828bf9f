import { microUsdc } from "../../../settlement/domain/money.ts";
import { shapeOf } from "../../mcp/transport/readJson.ts";
import type { Listing, Method } from "../../registry/listing.ts";
import { shownValue } from "../planner/composeAnswer.ts";
import { wantsChart } from "../planner/createPlanner.ts";
import { factsOf } from "../planner/factsOf.ts";
import { listingsAbout } from "../planner/listingsAbout.ts";
import { readQuestion } from "../planner/readQuestion.ts";
import { type Agent, type Conclusion, type Earlier, type GroundedFact, QueryFailed, type Task } from "../turn/agent.ts";
import { inertLine, inertText } from "../turn/inert.ts";
import { lesser } from "../turn/selectTools.ts";
import type { GapSignal, Level } from "../wire/result.ts";
import { type Computing, createComputing, PYTHON_RULE } from "./createComputing.ts";
import {
  costOf,
  type FunctionTool,
  type Message,
  type ModelClient,
  ModelFailure,
  type ToolCall,
  type Usage,
} from "./createModelClient.ts";
import { findUngrounded } from "./findUngrounded.ts";
import { LAST_STEP, MISS, repeatsRules, SYSTEM } from "./rules.ts";

// What a model sees of an output: the beginning, and the name under which the whole is kept.
const MAX_SHOWN_LENGTH = 6_000;
const MAX_TOOLS = 64;
// What the model reads of all methods, and of those of one listing: every step pays for it again, and no listing takes the others' room.
const MAX_OFFERED_LENGTH = 128 * 1024;
const MAX_LISTING_LENGTH = 32 * 1024;
const MAX_TOKENS = 2_000;
const MAX_TEXT_LENGTH = 20_000;
// Of what a model says to a question that it does not answer.
const MAX_MISSED = 10;
const MAX_MISSED_LENGTH = 200;
// Of an answer that was given before.
const MAX_EARLIER_LENGTH = 2_000;

const missTool: FunctionTool = {
  name: MISS,
  description: "Says that none of the tools can answer the question. Ends the turn; the asker pays nothing.",
  parameters: {
    type: "object",
    properties: {
      message: { type: "string", description: "one sentence for the asker" },
      missing: { type: "array", items: { type: "string" }, description: "what is missing" },
      rewrites: { type: "array", items: { type: "string" }, description: "questions that could be answered instead" },
    },
    required: ["message"],
  },
};

type Offered = { tool: FunctionTool; listing: Listing; method: Method };

// Answers with a model, one step being one completion. If the model fails before a tool was called, the next one is asked, and
// in the end the rules that need none. What it may do is decided by the caller of tools, not by what it was told.
export function createModelAgent(clients: readonly ModelClient[], rules: Agent): Agent {
  return {
    async conclude(task) {
      for (const client of clients) {
        try {
          return await converse(client, task);
        } catch (error) {
          if (!(error instanceof ModelFailure)) throw error;
          task.trace.rediscovered(`the model ${client.model.id} failed: ${error.message}`);
          // Tools have been called for it: another model would call and pay for them again.
          if (task.caller.attempts() > 0) throw new QueryFailed(`${error.message}; nothing is charged, ask again`);
        }
      }
      task.trace.step("fallback", "rules", "success", "no model could be reached; no model was used");
      return rules.conclude(task);
    },
  };
}

async function converse({ model, complete }: ModelClient, task: Task): Promise<Conclusion> {
  const { query, earlier, found, stepBudget, signal, say, trace } = task;
  const offered = offer(task);
  const computing = createComputing(task);
  const tools = [...[...offered.values()].map(({ tool }) => tool), ...computing.tools];
  const messages: Message[] = [
    { role: "system", content: task.interpreter === null ? SYSTEM : `${SYSTEM}\n${PYTHON_RULE}` },
    { role: "user", content: [...earlier.flatMap(beforeOf), query].join("\n") },
  ];
  const spent: Usage = { inputTokens: 0, outputTokens: 0 };
  const about = task.isNamed ? null : listingsAbout(readQuestion(query, task.nowMs()), found);
  say("planning");
  trace.step("planning", "plan", "success", `chosen by ${model.id}`, {
    offered: tools.length,
    found: found.length,
  });

  for (let step = 1; step <= stepBudget; step += 1) {
    const cost = costOf(model, spent);
    // What costs nothing, as a model of one's own does, never comes to its bound.
    const isLast = step === stepBudget || (cost > 0n && cost >= lesser(model.maxCost, task.modelBound));
    // Whoever has no step left can only answer.
    if (isLast && step > 1) messages.push({ role: "user", content: LAST_STEP });
    const offer = isLast ? [missTool] : [...tools, missTool];
    const asked = complete({ messages, tools: offer, maxTokens: MAX_TOKENS, signal });
    const { content, toolCalls, usage, isCut, isRefused } = await asked.catch((error) => {
      // It has read the question, and says no more what that has cost.
      task.spend(costOf(model, guessOf(messages, offer)));
      throw error;
    });
    task.spend(costOf(model, usage ?? guessOf(messages, offer)));
    // Of what an endpoint does not count nothing is charged, which favours the payer.
    spent.inputTokens += usage?.inputTokens ?? 0;
    spent.outputTokens += usage?.outputTokens ?? 0;
    if (isRefused) return refusedBy(model.id);
    const missed = toolCalls.find(({ name }) => name === MISS);
    if (missed !== undefined) return missOf(missed, model.id);
    if (toolCalls.length === 0 || isLast) {
      say("synthesizing");
      return answerOf(content.trim(), { isBounded: isLast && step > 1, isCut }, task, computing, {
        modelId: model.id,
        modelCost: chargedOf(model, spent),
      });
    }
    messages.push({ role: "assistant", content, toolCalls });
    // What is chosen before any tool has said a word is chosen for the question.
    const isFree = (listing: Listing) =>
      !hasHeard || listing.price === 0n || about === null || about.has(listing.toolId);
    const hasHeard = task.caller.attempts() > 0;
    const outputs = await Promise.all(toolCalls.map((call) => take(call, offered, task, computing, isFree)));
    for (const [i, call] of toolCalls.entries()) {
      messages.push({ role: "tool", toolCallId: call.id, content: outputs[i] ?? "" });
    }
  }
  throw new ModelFailure("the model came to no end", false);
}

const CHARACTERS_PER_TOKEN = 4;

// What an endpoint that does not count has read, about.
function guessOf(messages: readonly Message[], tools: readonly FunctionTool[]): Usage {
  const { length } = JSON.stringify([messages, tools]);
  return { inputTokens: Math.ceil(length / CHARACTERS_PER_TOKEN), outputTokens: 0 };
}

// Never more than was looked at before the turn began; what is above it is the platform's loss.
function chargedOf(model: ModelClient["model"], spent: Usage) {
  return lesser(costOf(model, spent), model.maxCost);
}

// The methods as functions, each under a name of its own that the wire allows.
function offer({ found, trace }: Task): Map<string, Offered> {
  const offered = new Map<string, Offered>();
  let length = 0;
  for (const [i, { listing, methods }] of found.entries()) {
    let own = 0;
    for (const method of methods) {
      if (offered.size === MAX_TOOLS) return offered;
      const name = `t${i + 1}_${method.name.replace(/[^A-Za-z0-9_-]/g, "_")}`.slice(0, 64);
      if (offered.has(name)) continue;
      const { rateLimit } = method._meta;
      const hints = [
        ...(rateLimit?.supportsBulk ? ["Takes many items in one call."] : []),
        ...(rateLimit?.recommendedBatchTools?.length
          ? [`For many items call ${rateLimit.recommendedBatchTools.join(", ")}.`]
          : []),
        ...(rateLimit?.maxRequestsPerMinute ? [`At most ${rateLimit.maxRequestsPerMinute} calls a minute.`] : []),
        ...(rateLimit?.maxConcurrency ? [`At most ${rateLimit.maxConcurrency} calls at a time.`] : []),
        ...(rateLimit?.cooldownMs ? [`${rateLimit.cooldownMs} ms between two calls.`] : []),
        ...(rateLimit?.notes ? [`Its owner notes: ${rateLimit.notes}`] : []),
      ];
      const description = [`${listing.name}: ${method.description}`, ...hints].join(" ").slice(0, 1_000);
      const tool = { name, description, parameters: method.inputSchema };
      const more = JSON.stringify(tool).length;
      if (own + more > MAX_LISTING_LENGTH || length + more > MAX_OFFERED_LENGTH) {
        trace.step("selection", "method-left-out", "skipped", `what ${method.name} takes is too long to be read`);
        continue;
      }
      own += more;
      length += more;
      offered.set(name, { listing, method, tool });
    }
  }
  return offered;
}

// What a call of the model's brings it: the output, framed as data, or why there is none and whether others may do.
async function take(
  call: ToolCall,
  offered: ReadonlyMap<string, Offered>,
  { caller, trace }: Task,
  computing: Computing,
  // Whether a listing that has answered nothing yet may be bought.
  isFree: (listing: Listing) => boolean,
): Promise<string> {
  const known = offered.get(call.name);
  if (known === undefined && !computing.tools.some(({ name }) => name === call.name)) {
    trace.retried(`the model called ${call.name.slice(0, 64)}, which it was not offered`);
    return JSON.stringify({ error: "there is no such tool; call one of those that you were given" });
  }
  let args: unknown;
  try {
    args = JSON.parse(call.arguments === "" ? "{}" : call.arguments);
  } catch {
    args = null;
  }
  const isWhole = shapeOf(args) === "whole";
  if (
    typeof args !== "object" ||
    args === null ||
    Array.isArray(args) ||
    Object.hasOwn(args, "__proto__") ||
    !isWhole
  ) {
    trace.retried(`the model's arguments for ${known?.method.name ?? call.name} are no JSON object`);
    return JSON.stringify({ error: "the arguments must be a JSON object" });
  }
  if (known !== undefined && repeatsRules(call.arguments)) {
    trace.retried(`the model gave its rules to ${known.method.name}, which was not called`);
    return JSON.stringify({ error: "the arguments must be about the question" });
  }
  if (known !== undefined && !isFree(known.listing) && !hasAnswered(caller, known.listing)) {
    trace.step("tool-call", "not-about-the-question", "skipped", `${known.listing.name} was not bought`);
    return JSON.stringify({
      error:
        "nothing of the question is about this tool, and nobody has named it; it is not bought for what an output says",
      advice: "answer with what there is",
    });
  }
  if (known === undefined) return (await computing.take(call.name, args as Record<string, unknown>)) ?? "";
  const called = await caller.call(known.listing, known.method, args as Record<string, unknown>);
  if (called.kind === "failed") {
    const { cause, reason } = called.failure;
    const advice = cause === "shape" ? "other arguments may do" : "do not call it again in this turn";
    return JSON.stringify({ error: reason, advice });
  }
  const { alias, text } = called.output;
  return JSON.stringify({
    alias,
    ...(text.length <= MAX_SHOWN_LENGTH
      ? { output: text }
      : { beginningOfOutput: text.slice(0, MAX_SHOWN_LENGTH), characters: text.length }),
  });
}

const hasAnswered = ({ outputs }: Task["caller"], { toolId }: Listing) =>
  outputs.some(({ listing }) => listing.toolId === toolId);

const beforeOf = ({ query, answer }: Earlier): string[] => [
  `Asked before: ${query}`,
  ...(answer === null ? [] : [`Answered then: ${answer.slice(0, MAX_EARLIER_LENGTH)}`]),
];

// Whoever filters what a model says has cut this off. There is nothing that anybody would pay for.
const refusedBy = (modelId: string): Conclusion => ({
  kind: "miss",
  message: "the model refused to answer this question",
  missing: ["model_refused"],
  rewrites: [],
  issueClass: "missing_capability",
  reasonCode: "model_refused",
  modelId,
  modelCost: microUsdc(0n),
});

function missOf({ arguments: text }: ToolCall, modelId: string): Conclusion {
  let said: { message?: unknown; missing?: unknown; rewrites?: unknown } = {};
  try {
    said = JSON.parse(text) as typeof said;
  } catch {
    // It says that it cannot, and nothing else.
  }
  const textsIn = (value: unknown) =>
    (Array.isArray(value) ? value : [])
      .filter((one): one is string => typeof one === "string")
      .slice(0, MAX_MISSED)
      .map((one) => inertLine(one.slice(0, MAX_MISSED_LENGTH)));
  return {
    kind: "miss",
    message:
      typeof said?.message === "string" && !repeatsRules(text)
        ? inertLine(said.message.slice(0, MAX_MISSED_LENGTH))
        : "no tool that was found can answer this question",
    missing: textsIn(said?.missing),
    rewrites: textsIn(said?.rewrites),
    issueClass: "missing_capability",
    reasonCode: "model_found_no_tool",
    modelId,
    // Nothing is charged for a miss.
    modelCost: microUsdc(0n),
  };
}

async function answerOf(
  written: string,
  { isBounded, isCut }: { isBounded: boolean; isCut: boolean },
  task: Task,
  { artifacts, images, derived, lacking }: Computing,
  by: Pick<Conclusion, "modelId" | "modelCost">,
): Promise<Conclusion> {
  const { query, earlier, nowMs, caller, trace } = task;
  const question = readQuestion(query, nowMs());
  const isRepeated = repeatsRules(written);
  const content = isRepeated ? "" : inertText(written);
  const facts = caller.outputs.flatMap((output): GroundedFact[] =>
    factsOf(output.value, { question, method: output.method, args: output.args }).map((fact) => ({
      ...fact,
      alias: output.alias,
    })),
  );
  // What the tools have said is paid for, and handed over, whether or not the model has a word for it.
  const text = content === "" ? plainAnswer(facts) : content.slice(0, MAX_TEXT_LENGTH);
  const said = { query: [query, ...earlier.map(({ answer }) => answer ?? "")].join("\n"), outputs: caller.outputs };
  const loose = content === "" ? [] : await findUngrounded(text, { ...said, derived });
  trace.step("completion-check", "verification-decision", loose.length === 0 ? "success" : "partial");
  const gaps: GapSignal[] = [
    ...(loose.length === 0
      ? []
      : [
          {
            code: "not_grounded",
            severity: "high" as const,
            detail: `no tool has said ${loose.slice(0, 5).join(", ")}`,
          },
        ]),
    ...caller.failures.map(
      ({ method, reason }): GapSignal => ({
        code: "tool_call_failed",
        severity: "medium",
        detail: `${method.name} failed: ${reason}`,
      }),
    ),
    ...(wantsChart(query) && artifacts.length === 0
      ? [{ code: "no_chart", severity: "medium" as const, detail: "a chart was asked for, and none was made" }]
      : []),
    ...(lacking() === null
      ? []
      : [{ code: "no_interpreter", severity: "medium" as const, detail: `nothing was computed: ${lacking()}` }]),
    ...(isBounded ? [{ code: "step_budget", severity: "medium" as const, detail: "the turn had no step left" }] : []),
    ...(isCut || content.length > MAX_TEXT_LENGTH
      ? [{ code: "cut_off", severity: "medium" as const, detail: "the answer was longer than it may be, and is cut" }]
      : []),
    ...(isRepeated
      ? [
          {
            code: "repeated_rules",
            severity: "high" as const,
            detail: "what the model said is not shown: it repeats its rules",
          },
        ]
      : []),
    ...(written === "" ? [{ code: "no_text", severity: "high" as const, detail: "the model said nothing" }] : []),
  ];
  const level: Level = loose.length > 0 || content === "" ? "low" : gaps.length > 0 ? "medium" : "high";
  return {
    kind: "answer",
    text,
    facts,
    view: null,
    artifacts,
    images,
    inferred: derived.length > 0 && content !== "" ? (await findUngrounded(text, said)).length : 0,
    level,
    reason:
      content === ""
        ? "the model said nothing that is shown, and the facts stand as the tools said them"
        : loose.length > 0
          ? "numbers of the answer stand in no tool's output"
          : derived.length > 0
            ? "every number of the answer stands in a tool's output or was computed from them"
            : "every number of the answer stands in a tool's output",
    assumptions: [],
    gaps,
    stopReason: isBounded || isCut ? "bounded_runtime_budget" : "complete_answer",
    issueClass: loose.length > 0 ? "missing_evidence" : null,
    ...by,
  };
}

const MAX_PLAIN_FACTS = 8;

function plainAnswer(facts: readonly GroundedFact[]): string {
  const said = facts
    .toSorted((a, b) => b.relevance - a.relevance)
    .slice(0, MAX_PLAIN_FACTS)
    .map(({ label, value }) => `${label}: ${shownValue(value)}`);
  return said.length === 0
    ? "The tools were asked, and nothing was said of what they answered."
    : `The tools were asked, and answered: ${said.join("; ")}.`.slice(0, MAX_TEXT_LENGTH);
}
