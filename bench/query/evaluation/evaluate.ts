import { RULES } from "../../../marketplace/query/models/createAgents.ts";
import type { QueryResult } from "../../../marketplace/query/wire/result.ts";
import type { Asked, Questions } from "../openQuestions.ts";
import { type Expected, type Question, questionsAbout } from "./questions.ts";
import { says } from "./says.ts";

export type Verdict = "right" | "missed" | "honest" | "wrong" | "failed";

export type Graded = {
  query: string;
  // `right`: the facts are there and put first. `missed`: it could have been answered, and it was said that it was not.
  // `honest`: it could not, and it was said so. `wrong`: something else was answered. `failed`: there was no answer at all.
  verdict: Verdict;
  level: string | null;
  calls: number;
  costUsd: number;
  response: string;
};

export type Evaluation = {
  questions: number;
  // Of those that can be answered.
  answerable: number;
  right: number;
  honestMisses: number;
  wrong: number;
  wrongWithHighConfidence: number;
  callsPerQuestion: number;
  costPerQuestionUsd: number;
  graded: readonly Graded[];
};

// By whoever is named. The rules say a fact under the name that its tool has for it; a model says it in words of its own, of which only
// the value is compared.
export async function evaluate(questions: Questions, agentModelId = RULES): Promise<Evaluation> {
  const graded: Graded[] = [];
  const asked = await questionsAbout(questions);
  const has = agentModelId === RULES ? hasFirst : hasSaid;
  for (const question of asked) graded.push(grade(question, await questions.ask(question.query, agentModelId), has));
  const count = (...verdicts: Verdict[]) => graded.filter(({ verdict }) => verdicts.includes(verdict)).length;
  return {
    questions: graded.length,
    answerable: asked.filter(({ expects }) => expects !== "miss").length,
    right: count("right"),
    honestMisses: count("honest"),
    wrong: count("wrong"),
    wrongWithHighConfidence: graded.filter(({ verdict, level }) => verdict === "wrong" && level === "high").length,
    callsPerQuestion: graded.reduce((sum, { calls }) => sum + calls, 0) / graded.length,
    costPerQuestionUsd: graded.reduce((sum, { costUsd }) => sum + costUsd, 0) / graded.length,
    graded,
  };
}

type Has = (result: QueryResult, expected: Expected) => boolean;

function grade({ query, expects }: Question, asked: Asked, has: Has): Graded {
  if (asked.kind === "failed") {
    return { query, verdict: "failed", level: null, calls: 0, costUsd: 0, response: asked.error };
  }
  const { result } = asked;
  const isMiss = result.outcomeType === "capability_miss";
  const verdict: Verdict =
    expects === "miss"
      ? isMiss
        ? "honest"
        : "wrong"
      : isMiss
        ? "missed"
        : expects.every((fact) => has(result, fact))
          ? "right"
          : "wrong";
  return {
    query,
    verdict,
    level: result.confidence?.level ?? null,
    calls: result.grounding.toolCallAttemptCount,
    costUsd: Number(result.cost.totalCostUsd),
    response: result.response,
  };
}

// Whether a fact is the one, or among the few, that the answer takes the question to ask for, and the prose has it. Where all
// that a tool said is listed because nobody knows what was asked for, nothing is.
function hasFirst({ evidence, response }: QueryResult, { label, value }: Expected): boolean {
  const facts = evidence?.facts ?? [];
  return facts.some((fact) => {
    const alias = fact.path.split(".")[0];
    const beside = facts.filter(({ path }) => path.split(".")[0] === alias);
    const best = Math.max(...beside.map((one) => one.relevanceScore));
    const isFirst = fact.relevanceScore === best && (best > 0 || beside.length === 1);
    return isFirst && fact.label === label && isSame(fact.value, value) && names(response, label);
  });
}

// Whether the prose has the value, and a tool has said something that it can rest on.
const hasSaid: Has = ({ response, grounding }, { value }) => grounding.grounded && says(response, value);

const names = (response: string, label: string) => response.toLowerCase().includes(`${label}: `);

function isSame(value: unknown, expected: unknown): boolean {
  if (typeof value === "number" && typeof expected === "number") {
    return Math.abs(value - expected) <= 1e-12 * Math.max(1, Math.abs(expected));
  }
  if (Array.isArray(value) && Array.isArray(expected)) {
    return value.length === expected.length && value.every((one, i) => isSame(one, expected[i]));
  }
  if (typeof value === "object" && value !== null && typeof expected === "object" && expected !== null) {
    const names = Object.keys(expected);
    return names.every((name) =>
      isSame((value as Record<string, unknown>)[name], (expected as Record<string, unknown>)[name]),
    );
  }
  return value === expected;
}
