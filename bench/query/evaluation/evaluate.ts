import { RULES } from "../../../marketplace/query/models/createAgents.ts";
import type { QueryResult } from "../../../marketplace/query/wire/result.ts";
import type { Asked, Questions } from "../openQuestions.ts";
import { type Expected, type Question, questionsAbout } from "./questions.ts";
import { says } from "./says.ts";

export type Verdict = "right" | "missed" | "honest" | "doubted" | "wrong" | "failed";

export type Graded = {
  query: string;
  // `right`: the facts are there and put first. `missed`: it could have been answered, and it was said that it was not.
  // `honest`: it could not, and it was said so. `doubted`: what there was to doubt was doubted, or not answered. `wrong`: something else
  // was answered. `failed`: there was no answer at all.
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
  // Of those that nobody can answer.
  unanswerable: number;
  right: number;
  honestMisses: number;
  wrong: number;
  wrongWithHighConfidence: number;
  callsPerQuestion: number;
  costPerQuestionUsd: number;
  graded: readonly Graded[];
};

// By whoever is named. The rules say a fact under the name that its tool has for it; a model says it in words of its own, of which only
// the value is compared. All questions are asked unless some are chosen.
export async function evaluate(
  questions: Questions,
  agentModelId = RULES,
  isChosen: (question: Question, n: number) => boolean = () => true,
): Promise<Evaluation> {
  const graded: Graded[] = [];
  const asked = (await questionsAbout(questions)).filter(isChosen);
  const has = agentModelId === RULES ? hasFirst : hasSaid;
  for (const question of asked) graded.push(grade(question, await questions.ask(question.query, agentModelId), has));
  const count = (...verdicts: Verdict[]) => graded.filter(({ verdict }) => verdicts.includes(verdict)).length;
  return {
    questions: graded.length,
    answerable: asked.filter(({ expects }) => typeof expects !== "string").length,
    unanswerable: asked.filter(({ expects }) => expects === "miss").length,
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
  const level = result.confidence?.level ?? null;
  return {
    query,
    verdict: verdictOf(expects, result, level, has),
    level,
    calls: result.grounding.toolCallAttemptCount,
    costUsd: Number(result.cost.totalCostUsd),
    response: result.response,
  };
}

function verdictOf(expects: Question["expects"], result: QueryResult, level: string | null, has: Has): Verdict {
  const isMiss = result.outcomeType === "capability_miss";
  if (expects === "miss") return isMiss ? "honest" : "wrong";
  if (expects === "doubt") return isMiss || level !== "high" ? "doubted" : "wrong";
  if (isMiss) return "missed";
  return expects.every((fact) => has(result, fact)) ? "right" : "wrong";
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
