import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import { type MicroUsdc, microUsdc } from "../../../settlement/domain/money.ts";
import { createPlanner } from "../planner/createPlanner.ts";
import type { Agent } from "../turn/agent.ts";
import { createModelAgent } from "./createModelAgent.ts";
import { createModelClient } from "./createModelClient.ts";
import type { Model, Models } from "./readModels.ts";

// The name of the planner that needs no model, for those who want it where there are models.
export const RULES = "rules";

// The models that the public SDKs know by name. Another name that looks like one of them is a typing error as likely as not.
const ORIGINAL_IDS: ReadonlySet<string> = new Set([
  "kimi-k2.6-model",
  "kimi-k3-model",
  "glm-5.2-model",
  "grok-4.5-model",
  "deepseek-v4-pro-model",
  "deepseek-v4-flash-model",
  "qwen-3.7-plus-model",
  "qwen-3.7-max-model",
  "gpt-5.5-model",
  "claude-opus-model",
]);

export type Agents = {
  // Null: whoever answers where nobody is named. Both throw if there is no such model.
  agentOf(agentModelId: string | null): Agent;
  maxCostOf(agentModelId: string | null): MicroUsdc;
};

// Who answers which questions. Behind the model that was named stand the others, and behind all of them the rules. Programs
// that were written for the public SDKs name the original's models: where such a one is not here the usual one answers, and the
// answer says so. Any other name is refused.
export function createAgents(models: Models): Agents {
  const rules = createPlanner();
  const clients = new Map(models.map((model) => [model.id, createModelClient(model)]));
  const isAbsent = (agentModelId: string | null): agentModelId is string =>
    agentModelId !== null && ORIGINAL_IDS.has(agentModelId) && models.every(({ id }) => id !== agentModelId);

  function lineOf(agentModelId: string | null): Models {
    if (agentModelId === null || isAbsent(agentModelId)) return models;
    if (agentModelId === RULES) return [];
    const first = models.find(({ id }) => id === agentModelId);
    if (first === undefined) {
      const known = [...models.map(({ id }) => id), RULES].join(", ");
      throw new ApiError("invalid_request", `there is no model ${agentModelId} here for agentModelId, but ${known}`);
    }
    return [first, ...models.filter(({ id }) => id !== first.id)];
  }

  return {
    agentOf(agentModelId) {
      const line = lineOf(agentModelId).flatMap(({ id }) => clients.get(id) ?? []);
      const agent = line.length === 0 ? rules : createModelAgent(line, rules);
      return isAbsent(agentModelId) ? standIn(agent, agentModelId) : agent;
    },
    maxCostOf: (agentModelId) => lineOf(agentModelId).reduce(dearest, microUsdc(0n)),
  };
}

// Answers in the name of another, and says so.
const standIn = (agent: Agent, wanted: string): Agent => ({
  async conclude(task) {
    const conclusion = await agent.conclude(task);
    const note = `the model ${wanted} is not offered here, and ${conclusion.modelId ?? RULES} answered`;
    task.trace.step("fallback", "model", "ok", note);
    return conclusion.kind === "answer"
      ? { ...conclusion, assumptions: [...conclusion.assumptions, note] }
      : conclusion;
  },
});

const dearest = (most: MicroUsdc, { maxCost }: Model): MicroUsdc => (maxCost > most ? maxCost : most);
