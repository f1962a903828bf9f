import type { measureQuery } from "../../query/measureQuery.ts";
import { chapter } from "../chapter.ts";
import { exact, named, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureQuery>>;

export const query = chapter<Measured>({
  name: "query",
  command: "query",
  measure: async () => (await import("../../query/measureQuery.ts")).measureQuery(),
  text: (query) => `## Questions

Questions to a model that says at once what it was told to say, with one call of a local tool each, answered and recorded. The model's two requests count as ours. The evaluation asks the built-in planner about the example tools, and grades it by facts that were worked out without them.

${named([
  ["turnsPerSecond", whole(query.turnsPerSecond), "turns per second of 16 askers"],
  ["rulesTurnsPerSecond", whole(query.rulesTurnsPerSecond), "the same with the built-in planner"],
  ["overheadP50Ms", exact(query.overheadP50Ms), "median of a lone turn's time that is not its tool's, in milliseconds"],
  ["interpreterColdMs", exact(query.interpreterColdMs), "a turn's first use of Python, process and all"],
  ["interpreterWarmMs", exact(query.interpreterWarmMs), "every other one"],
  ["evalQuestions", whole(query.evalQuestions), "questions of the evaluation"],
  ["evalAnswerable", whole(query.evalAnswerable), "of them that the example tools can answer"],
  ["evalRight", whole(query.evalRight), "of those that the built-in planner answers rightly"],
  ["evalHonestMisses", whole(query.evalHonestMisses), "that it says it cannot answer"],
  ["evalWrongWithHighConfidence", whole(query.evalWrongWithHighConfidence), "wrong answers that it was sure of"],
])}`,
});
