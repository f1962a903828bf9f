import { ApiError } from "../../../settlement/daemon/http/errors.ts";
import { type MicroUsdc, microUsdc } from "../../../settlement/domain/money.ts";
import { createPlanner } from "../planner/createPlanner.ts";
import type { Agent } from "../turn/agent.ts";
import { createModelAgent } from "./createModelAgent.ts";
import { createModelClient } from "./createModelClient.ts";
import type { Model, Models } from "./readModels.ts";

// The name of the planner that needs no model, for those who want it where there are models.
export const RULES = "rules";

export type Agents = {
  // Null: whoever answers where nobody is named. Both throw if there is no such model.
  agentOf(agentModelId: string | null): Agent;
  maxCostOf(agentModelId: string | null): MicroUsdc;
};

// Who answers which questions. Behind the model that was named stand the others, and behind all of them the rules.
export function createAgents(models: Models): Agents {
  const rules = createPlanner();
  const clients = new Map(models.map((model) => [model.id, createModelClient(model)]));

  function lineOf(agentModelId: string | null): Models {
    if (agentModelId === RULES || (agentModelId === null && models.length === 0)) return [];
    const first = agentModelId === null ? models[0] : models.find(({ id }) => id === agentModelId);
    if (first === undefined) {
      const known = [...models.map(({ id }) => id), RULES].join(", ");
      throw new ApiError(
        "invalid_request",
        `agentModelId names ${agentModelId}, which is not here; there are ${known}`,
      );
    }
    return [first, ...models.filter(({ id }) => id !== first.id)];
  }

  return {
    agentOf(agentModelId) {
      const line = lineOf(agentModelId).flatMap(({ id }) => clients.get(id) ?? []);
      return line.length === 0 ? rules : createModelAgent(line, rules);
    },
    maxCostOf: (agentModelId) => lineOf(agentModelId).reduce(dearest, microUsdc(0n)),
  };
}

const dearest = (most: MicroUsdc, { maxCost }: Model): MicroUsdc => (maxCost > most ? maxCost : most);
