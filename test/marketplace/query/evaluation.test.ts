import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Evaluation, evaluate } from "../../../bench/query/evaluation/evaluate.ts";
import { says } from "../../../bench/query/evaluation/says.ts";
import { openQuestions, type Questions } from "../../../bench/query/openQuestions.ts";
import {
  type Asked as ModelAsked,
  type ScriptedModel,
  startModel,
  type Turn,
} from "../../../marketplace/query/models/testing/startModel.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";

const MEDIAN = "What is the median of 3, 1, 2?";
const MEAN = "What is the mean of [100, 102, 101, 105, 110]?";

// A model that answers one question rightly, in words that no tool has, another wrongly, and all others with a miss.
function answerOf({ messages, tools = [] }: ModelAsked): Turn {
  const query = messages.find(({ role }) => role === "user")?.content ?? "";
  const describing = tools.find((tool) => tool.function.name.endsWith("_describe"))?.function.name;
  if (![MEDIAN, MEAN].includes(query) || describing === undefined) {
    return { call: [{ name: "no_tool_can_answer", arguments: "{}" }] };
  }
  if (messages.some(({ role }) => role === "tool")) {
    return { say: query === MEDIAN ? "The one in the middle is 2." : "They average 104.6." };
  }
  const values = query === MEDIAN ? [3, 1, 2] : [100, 102, 101, 105, 110];
  return { call: [{ name: describing, arguments: JSON.stringify({ values }) }] };
}

it.each<[string, unknown, boolean]>([
  ["It is about 2.14.", Math.sqrt(32 / 7), true],
  ["It is 2.", Math.sqrt(32 / 7), false],
  ["a fall of 25 %", 0.25, true],
  ["a fall of 24 %", 0.25, false],
  ["1,234,567 in all", 1_234_567, true],
  ["It settles on November 17, 2026.", "2026-11-17", true],
  ["It settles on 18 November 2026.", "2026-11-17", false],
  ["There are 12,000.5 USDC.", "12000.5", true],
  ["2, 3 and 4", [null, null, 2, 3, 4], true],
  ["2 and 3", [null, null, 2, 3, 4], false],
  ["tea, two times (2)", [{ word: "tea", count: 2 }], true],
  ["It is 0.", 0.21, false],
])("that “%s” says %j is %s", (text, value, isSaid) => {
  expect(says(text, value)).toBe(isSaid);
});

describe("the built-in planner, on questions whose answers were worked out without it", () => {
  let questions: Questions;
  let evaluation: Evaluation;
  let model: ScriptedModel;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "evaluation-"));
    model = await startModel(answerOf);
    const models = join(folder, "models.json");
    const prices = { inputUsdPerMillion: "1", outputUsdPerMillion: "2", maxCostUsd: "0.01" };
    writeFileSync(models, JSON.stringify([{ id: "scripted", url: model.url, model: "scripted", ...prices }]));
    questions = await openQuestions({ MARKETPLACE_MODELS: models, MARKETPLACE_UNPAID_MODEL_CENTS: "1000000" });
    evaluation = await evaluate(questions);
  });
  afterAll(async () => {
    await questions?.close();
    await model?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("answers at least two thirds of sixty and more rightly", () => {
    expect(evaluation.questions).toBeGreaterThanOrEqual(60);
    expect(3 * evaluation.right).toBeGreaterThanOrEqual(2 * evaluation.answerable);
  });

  it("is never wrong with high confidence", () => {
    expect(evaluation.graded.filter(({ verdict, level }) => verdict === "wrong" && level === "high")).toEqual([]);
  });

  it("says of every question that no tool can answer that none can, and asks nothing for it", () => {
    expect(evaluation.honestMisses).toBe(evaluation.unanswerable);
    const misses = evaluation.graded.filter(({ verdict }) => verdict === "honest" || verdict === "missed");
    expect(misses.every(({ costUsd, calls }) => costUsd === 0 && calls === 0)).toBe(true);
  });

  it("is graded beside a model, whose words are its own and whose values are compared", async () => {
    // It has two answers, and says of everything else that it has none.
    const { graded, honestMisses, unanswerable, right, wrong } = await evaluate(
      questions,
      "scripted",
      ({ query }, n) => [MEDIAN, MEAN].includes(query) || n % 10 === 0,
    );
    expect(unanswerable).toBeGreaterThan(20);
    expect(graded.find(({ query }) => query === MEDIAN)).toMatchObject({ verdict: "right", calls: 1 });
    expect(graded.find(({ query }) => query === MEAN)).toMatchObject({ verdict: "wrong", calls: 1 });
    expect({ right, wrong, honestMisses }).toEqual({ right: 1, wrong: 1, honestMisses: unanswerable });
  });

  it("answers the same every time", async () => {
    const query = "What is the mean and the median of 1, 2, 6?";
    const [first, second] = [await questions.ask(query, "rules"), await questions.ask(query, "rules")];
    if (first.kind !== "answered" || second.kind !== "answered") throw new Error("it was not answered");
    expect(second.result.response).toBe(first.result.response);
    expect(second.result.evidence?.facts).toEqual(first.result.evidence?.facts);
  });
});
