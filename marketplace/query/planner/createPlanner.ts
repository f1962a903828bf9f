import { microUsdc } from "../../../settlement/domain/money.ts";
import type { Listing, Method } from "../../registry/listing.ts";
import { type Agent, type Conclusion, QueryFailed, type Task } from "../turn/agent.ts";
import type { Arguments, Called, CallFailure } from "../turn/createCaller.ts";
import type { GapSignal } from "../wire/result.ts";
import { composeAnswer, type StepResult } from "./composeAnswer.ts";
import { type PlannedStep, planQuestion } from "./planQuestion.ts";
import { readQuestion } from "./readQuestion.ts";

const MINUTE_MS = 60_000;
const FREE = { modelId: null, modelCost: microUsdc(0n) };
export const wantsChart = (query: string) => /\b(plot|chart|graph|draw|visuali[sz]e)\b/i.test(query);

// Answers without a model: finds the method whose words are the question's, gives it what the question names, and says what it
// answers. It is free, the same every time, and does not guess: what it does not understand is a miss or a doubt, in words.
export function createPlanner(): Agent {
  return {
    async conclude(task): Promise<Conclusion> {
      const { query, earlier, found, trace, nowMs, say, stepBudget, caller } = task;
      say("planning");
      const question = readQuestion(
        query,
        nowMs(),
        found.map(({ listing }) => listing.name),
      );
      const before = earlier.toReversed().flatMap((before) => [...readQuestion(before.query, nowMs()).values]);
      const plan = planQuestion(question, found, before);
      trace.step("planning", "plan", "success", "chosen by rules; no model was used", {
        plannerReasoningStage: "rules",
        methods: plan.kind === "steps" ? plan.steps.map(({ chosen }) => chosen.method.name) : [],
      });
      if (plan.kind === "miss") {
        const { message, missing, rewrites } = plan;
        const reasonCode = found.length === 0 ? "no_tool_found" : "question_not_understood";
        return {
          kind: "miss",
          message,
          missing,
          rewrites,
          issueClass: "missing_capability",
          reasonCode,
          ...FREE,
        };
      }
      const steps = plan.steps.slice(0, stepBudget);
      const results: StepResult[] = [];
      for (const step of steps) results.push(await take(step, task));
      const answered = results.filter(({ outputs }) => outputs.length > 0);
      trace.step("completion-check", "completeness", answered.length === steps.length ? "success" : "partial");
      if (answered.length === 0) throw new QueryFailed(failureOf(task));
      say("synthesizing");
      const unanswered = [...plan.unanswered, ...plan.steps.slice(stepBudget).map(({ question }) => question.text)];
      const isBounded = caller.failures.some(({ cause }) => cause === "bound") || plan.steps.length > stepBudget;
      return {
        ...composeAnswer(answered, gapsOf(results, unanswered, caller.failures), isBounded, wantsChart(query)),
        ...FREE,
      };
    },
  };
}

// Makes the calls of one step, those of a list at the same time. If the tool takes what was assumed for wrong, it is asked
// without; if it cannot be reached, another that could answer as well is.
async function take(step: PlannedStep, { caller, trace }: Task): Promise<StepResult> {
  const { chosen, alternatives, question } = step;
  const { assumed } = chosen.filled;
  const calls = pacedOf(chosen.method, chosen.filled.calls);
  const leftOut = chosen.filled.calls.length - calls.length;
  const made = await callAll(chosen.listing, chosen.method, calls);
  const results = await Promise.all(made.map((called, i) => repaired(called, calls[i] ?? {})));
  const outputs = results.flatMap((called) => (called.kind === "answered" ? [called.output] : []));
  if (outputs.length > 0) return { step, question, outputs, failed: results.length - outputs.length, leftOut };
  const [other] = alternatives;
  if (other?.filled.kind !== "filled") return { step, question, outputs, failed: results.length, leftOut };
  trace.rediscovered(
    `${chosen.method.name} of ${chosen.listing.name} failed; ${other.method.name} of ${other.listing.name} may do`,
  );
  const others = pacedOf(other.method, other.filled.calls);
  const again = await callAll(other.listing, other.method, others);
  const found = again.flatMap((called) => (called.kind === "answered" ? [called.output] : []));
  return {
    step: { ...step, chosen: { ...other, filled: other.filled } },
    question,
    outputs: found,
    failed: again.length - found.length,
    leftOut: other.filled.calls.length - others.length,
  };

  // As many at a time as the tool asks for.
  async function callAll(listing: Listing, method: Method, all: readonly Arguments[]): Promise<Called[]> {
    const atOnce = method._meta.rateLimit?.maxConcurrency ?? all.length;
    const called: Called[] = [];
    while (called.length < all.length) {
      const next = all.slice(called.length, called.length + Math.max(1, atOnce));
      called.push(...(await Promise.all(next.map((args) => caller.call(listing, method, args)))));
    }
    return called;
  }

  async function repaired(called: Called, args: Arguments): Promise<Called> {
    if (called.kind === "answered" || called.failure.cause !== "shape" || assumed.length === 0) return called;
    trace.retried(`${chosen.method.name} refused its arguments; it is asked again without ${assumed.join(", ")}`);
    const fewer = Object.fromEntries(Object.entries(args).filter(([name]) => !assumed.includes(name)));
    return caller.call(chosen.listing, chosen.method, fewer);
  }
}

// No more calls than the tool takes in the minute for which somebody waits.
function pacedOf({ _meta: { rateLimit } }: Method, calls: readonly Arguments[]): readonly Arguments[] {
  const { maxRequestsPerMinute = calls.length, cooldownMs = 0 } = rateLimit ?? {};
  const inAMinute = cooldownMs > 0 ? Math.ceil(MINUTE_MS / cooldownMs) : calls.length;
  return calls.slice(0, Math.max(1, Math.min(maxRequestsPerMinute, inAMinute)));
}

function gapsOf(
  results: readonly StepResult[],
  unanswered: readonly string[],
  failures: readonly CallFailure[],
): GapSignal[] {
  // In the tool's words: a limit of its plan is for whoever asked to know.
  const whyOf = ({ step: { chosen } }: StepResult) =>
    failures.find(
      ({ listing, method }) => listing.toolId === chosen.listing.toolId && method.name === chosen.method.name,
    );
  const failed = results.filter((result) => result.failed > 0);
  return [
    ...results.flatMap(({ step, leftOut }): GapSignal[] =>
      leftOut === 0
        ? []
        : [
            {
              code: "paced",
              severity: "high",
              detail: `${leftOut} calls of ${step.chosen.method.name} were not made: it takes no more in a minute`,
            },
          ],
    ),
    ...failed.map(
      (result): GapSignal => ({
        code: "tool_call_failed",
        severity: "high",
        detail: [
          `${result.failed} of ${result.step.chosen.filled.calls.length} calls of ${result.step.chosen.method.name} failed`,
          ...[whyOf(result)?.reason ?? []].flat(),
        ].join(": "),
      }),
    ),
    ...unanswered.map(
      (text): GapSignal => ({
        code: "part_not_answered",
        severity: "high",
        detail: `no tool answers “${text.slice(0, 300)}”`,
      }),
    ),
  ];
}

// The first failure in its own words, because callers show them to whoever can do something about it.
function failureOf({ caller }: Task): string {
  const [first] = caller.failures;
  if (first === undefined) return "no tool was called";
  return `the tool ${first.listing.name} failed at ${first.method.name}: ${first.reason}`;
}
