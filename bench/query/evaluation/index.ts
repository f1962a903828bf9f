// `npm run eval [-- --json]` asks the evaluation's questions of a marketplace with the example tools, and says how many of the
// answers are right, how many misses are honest, and what a question costs.
import { readArguments, withUsage } from "../../../settlement/cli/readArguments.ts";
import { openQuestions } from "../openQuestions.ts";
import { evaluate } from "./evaluate.ts";

const USAGE = "Usage: npm run --silent eval [-- --json]";

await withUsage(USAGE, async () => {
  const { values } = readArguments({ options: { json: { type: "boolean" } } });
  const questions = await openQuestions();
  try {
    const { graded, ...sums } = await evaluate(questions);
    if (values.json) {
      console.log(JSON.stringify({ ...sums, graded }, undefined, 2));
      return;
    }
    for (const { verdict, level, query, response } of graded) {
      if (verdict === "right" || verdict === "honest") continue;
      console.log(`${verdict}${level === null ? "" : ` (${level})`}: ${query}\n  ${response}`);
    }
    const percent = (part: number, whole: number) => `${Math.round((100 * part) / whole)} %`;
    const unanswerable = sums.questions - sums.answerable;
    console.log(`right: ${sums.right} of ${sums.answerable} (${percent(sums.right, sums.answerable)})`);
    console.log(`honest misses: ${sums.honestMisses} of ${unanswerable} (${percent(sums.honestMisses, unanswerable)})`);
    console.log(`wrong: ${sums.wrong}, with high confidence: ${sums.wrongWithHighConfidence}`);
    console.log(
      `calls per question: ${sums.callsPerQuestion.toFixed(2)}, cost: $${sums.costPerQuestionUsd.toFixed(4)}`,
    );
  } finally {
    await questions.close();
  }
});
