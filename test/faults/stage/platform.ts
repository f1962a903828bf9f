import type { Address } from "viem";
import type { Reply } from "../../../scripts/client/createClient.ts";
import { until } from "../../../scripts/waiting/until.ts";
import { formatUsd, type MicroUsdc } from "../../../settlement/domain/money.ts";
import { type ToolId, uuidFromToolId } from "../../../settlement/domain/toolId.ts";

export type Turn = {
  turnId: string;
  payer: Address;
  modelCost: MicroUsdc;
  tools: readonly { toolId: ToolId; amount: MicroUsdc }[];
};

// What the daemon has acknowledged to the platform: the witness that owes the ledger nothing.
export type Acknowledged = { turns: Map<string, Turn>; calls: Map<string, { payer: Address; amount: MicroUsdc }> };

export type Ask = (method: string, path: string, body?: unknown) => Promise<Reply>;

export type Platform = {
  acknowledged: Acknowledged;
  // Reports a turn once; null is no answer at all.
  offer(turn: Turn): Promise<number | null>;
  // Reports a turn until it is acknowledged, under the same id, as a platform does that got no answer or a 503.
  deliver(turn: Turn): Promise<void>;
  // A call that was captured; its amount is owed.
  capture(callId: string, call: { payer: Address; amount: MicroUsdc }): Promise<number | null>;
};

// A platform that reports to whichever daemon `ask` reaches.
export function createPlatform(ask: Ask): Platform {
  const acknowledged: Acknowledged = { turns: new Map(), calls: new Map() };

  async function statusOf(asked: Promise<Reply>): Promise<number | null> {
    try {
      return (await asked).status;
    } catch {
      return null;
    }
  }

  async function offer(turn: Turn): Promise<number | null> {
    // An answer that never comes may come after all once the daemon is awake; only what is heard counts.
    const status = await statusOf((async () => ask("POST", "/v1/turns", bodyOf(turn)))());
    if (status === 200) acknowledged.turns.set(turn.turnId, turn);
    return status;
  }

  return {
    acknowledged,
    offer,
    async deliver(turn) {
      const answer = await until(`turn ${turn.turnId} to be answered`, async () => {
        const status = await offer(turn);
        return status !== null && status !== 503 && { status };
      });
      if (answer.status !== 200) throw new Error(`turn ${turn.turnId} was answered with ${answer.status}`);
    },
    async capture(callId, call) {
      const status = await statusOf(ask("POST", `/v1/calls/${callId}/capture`));
      if (status === 200) acknowledged.calls.set(callId, call);
      return status;
    },
  };
}

export function bodyOf({ turnId, payer, modelCost, tools }: Turn) {
  return {
    turnId,
    payer,
    outcome: "delivered",
    modelCostUsd: formatUsd(modelCost),
    tools: tools.map(({ toolId, amount }) => ({
      toolId: uuidFromToolId(toolId),
      amountUsd: formatUsd(amount),
      calls: 1,
    })),
  };
}
