import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { startModel } from "../../marketplace/query/models/testing/startModel.ts";
import type { QueryResult } from "../../marketplace/query/wire/result.ts";
import { evaluate } from "./evaluation/evaluate.ts";
import { measureInterpreter } from "./measureInterpreter.ts";
import { openQuestions } from "./openQuestions.ts";

const ASKERS = 16;
const WARM_UP_TURNS = 50;
const TURNS = 400;
const ALONE = 60;
const QUESTION = "What is the median of 3, 1, 2?";

// Questions to a model that says at once what it was told to say, with one call of a local tool each: how many turns are
// answered and paid in a second by 16 askers, and how long one that is alone takes beside its tool. The time of the model's
// two requests counts as ours, because nobody measures it, so that the number is rather too large.
export async function measureQuery() {
  const folder = mkdtempSync(join(tmpdir(), "bench-query-"));
  const model = await startModel(({ messages, tools }) => {
    if (messages.at(-1)?.role === "tool") return { say: "The median is 2." };
    const name = tools?.find((tool) => tool.function.name.endsWith("_describe"))?.function.name ?? "";
    return { call: [{ name, arguments: '{"values":[3,1,2]}' }] };
  });
  const models = join(folder, "models.json");
  const scripted = { id: "scripted", url: model.url, model: "scripted" };
  const prices = { inputUsdPerMillion: "0.60", outputUsdPerMillion: "2.50", maxCostUsd: "0.01" };
  writeFileSync(models, JSON.stringify([{ ...scripted, ...prices }]));
  const questions = await openQuestions({ MARKETPLACE_MODELS: models });
  const pool = new Pool(questions.url, { connections: ASKERS });
  const headers = { authorization: `Bearer ${questions.key}`, "content-type": "application/json" };

  async function ask(agentModelId: string): Promise<{ tookMs: number; toolMs: number }> {
    const startMs = performance.now();
    const body = JSON.stringify({ query: QUESTION, agentModelId, stream: false, includeDeveloperTrace: true });
    const reply = await pool.request({ method: "POST", path: "/api/v1/query", headers, body });
    const result = (await reply.body.json()) as QueryResult;
    if (result.outcomeType !== "answer")
      throw new Error(`it was not answered: ${JSON.stringify(result).slice(0, 500)}`);
    const trace = result.developerTrace?.executionTrace as { durationMs: number }[];
    return { tookMs: performance.now() - startMs, toolMs: trace.reduce((sum, { durationMs }) => sum + durationMs, 0) };
  }
  async function rateOf(agentModelId: string): Promise<number> {
    let left = TURNS;
    const startMs = performance.now();
    await Promise.all(
      Array.from({ length: ASKERS }, async () => {
        while (left-- > 0) await ask(agentModelId);
      }),
    );
    return (TURNS * 1_000) / (performance.now() - startMs);
  }

  try {
    for (let i = 0; i < WARM_UP_TURNS; i++) await ask(i % 2 === 0 ? "scripted" : "rules");
    const turnsPerSecond = await rateOf("scripted");
    const rulesTurnsPerSecond = await rateOf("rules");
    const overheads: number[] = [];
    for (let i = 0; i < ALONE; i++) {
      const { tookMs, toolMs } = await ask("scripted");
      overheads.push(tookMs - toolMs);
    }
    const evaluation = await evaluate(questions);
    const interpreter = await measureInterpreter();
    return {
      turnsPerSecond: Math.round(turnsPerSecond),
      rulesTurnsPerSecond: Math.round(rulesTurnsPerSecond),
      overheadP50Ms: medianOf(overheads),
      ...interpreter,
      evalQuestions: evaluation.questions,
      evalAnswerable: evaluation.answerable,
      evalRight: evaluation.right,
      evalHonestMisses: evaluation.honestMisses,
      evalWrongWithHighConfidence: evaluation.wrongWithHighConfidence,
    };
  } finally {
    await pool.close();
    await questions.close();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const medianOf = (values: readonly number[]) =>
  Math.round(10 * (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0)) / 10;
