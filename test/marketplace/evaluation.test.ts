import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Evaluation, evaluate } from "../../bench/query/evaluation/evaluate.ts";
import { openQuestions, type Questions } from "../../bench/query/openQuestions.ts";

describe("the built-in planner, on questions whose answers were worked out without it", () => {
  let questions: Questions;
  let evaluation: Evaluation;
  beforeAll(async () => {
    questions = await openQuestions();
    evaluation = await evaluate(questions);
  });
  afterAll(() => questions?.close());

  it("answers at least two thirds of sixty and more rightly", () => {
    expect(evaluation.questions).toBeGreaterThanOrEqual(60);
    expect(3 * evaluation.right).toBeGreaterThanOrEqual(2 * evaluation.answerable);
  });

  it("is never wrong with high confidence", () => {
    expect(evaluation.graded.filter(({ verdict, level }) => verdict === "wrong" && level === "high")).toEqual([]);
  });

  it("says of every question that no tool can answer that none can, and asks nothing for it", () => {
    const unanswerable = evaluation.questions - evaluation.answerable;
    expect(evaluation.honestMisses).toBe(unanswerable);
    const misses = evaluation.graded.filter(({ verdict }) => verdict === "honest" || verdict === "missed");
    expect(misses.every(({ costUsd, calls }) => costUsd === 0 && calls === 0)).toBe(true);
  });

  it("answers the same every time", async () => {
    const query = "What is the mean and the median of 1, 2, 6?";
    const [first, second] = [await questions.ask(query), await questions.ask(query)];
    if (first.kind !== "answered" || second.kind !== "answered") throw new Error("it was not answered");
    expect(second.result.response).toBe(first.result.response);
    expect(second.result.evidence?.facts).toEqual(first.result.evidence?.facts);
  });
});
