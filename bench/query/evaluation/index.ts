// `npm run eval [-- --json]` asks the evaluation's questions of a marketplace with the example tools, and says how many of the
// answers are right, how many misses are honest, and what a question costs: by the rules, and then by each model of
// MARKETPLACE_MODELS, if it is set.
import { resolve } from "node:path";
import { RULES } from "../../../marketplace/query/models/createAgents.ts";
import { readModels } from "../../../marketplace/query/models/readModels.ts";
import { readArguments, withUsage } from "../../../settlement/cli/readArguments.ts";
import { openQuestions } from "../openQuestions.ts";
import { type Evaluation, evaluate } from "./evaluate.ts";

const USAGE = "Usage: [MARKETPLACE_MODELS=FILE] npm run --silent eval [-- --json]";
// Most of the questions that no tool can answer cost a model something, and nobody pays.
const UNPAID_CENTS = "1000000";

await withUsage(USAGE, async () => {
  const { values } = readArguments({ options: { json: { type: "boolean" } } });
  const { MARKETPLACE_MODELS: file } = process.env;
  const models = file === undefined ? [] : readModels(resolve(file));
  const questions = await openQuestions(
    file === undefined ? {} : { MARKETPLACE_MODELS: resolve(file), MARKETPLACE_UNPAID_MODEL_CENTS: UNPAID_CENTS },
  );
  try {
    const evaluations: Record<string, Evaluation> = {};
    for (const by of [RULES, ...models.map(({ id }) => id)]) {
      const evaluation = await evaluate(questions, by);
      evaluations[by] = evaluation;
      if (!values.json) print(by, evaluation);
    }
    if (!values.json) return;
    // What the rules did stands where it stood before there were others.
    const { [RULES]: rules, ...others } = evaluations;
    console.log(JSON.stringify({ ...rules, ...(models.length > 0 && { models: others }) }, undefined, 2));
  } finally {
    await questions.close();
  }
});

function print(by: string, { graded, ...sums }: Evaluation): void {
  console.log(`by ${by}`);
  for (const { verdict, level, query, response } of graded) {
    if (verdict === "right" || verdict === "honest" || verdict === "doubted") continue;
    console.log(`${verdict}${level === null ? "" : ` (${level})`}: ${query}\n  ${response}`);
  }
  const percent = (part: number, whole: number) => `${Math.round((100 * part) / whole)} %`;
  const { unanswerable } = sums;
  console.log(`right: ${sums.right} of ${sums.answerable} (${percent(sums.right, sums.answerable)})`);
  console.log(`honest misses: ${sums.honestMisses} of ${unanswerable} (${percent(sums.honestMisses, unanswerable)})`);
  console.log(`wrong: ${sums.wrong}, with high confidence: ${sums.wrongWithHighConfidence}`);
  console.log(`calls per question: ${sums.callsPerQuestion.toFixed(2)}, cost: $${sums.costPerQuestionUsd.toFixed(4)}`);
}
