import type { Address } from "viem";
import { NO_HASHES } from "../../settlement/domain/charge.ts";
import { SettlementError } from "../../settlement/domain/errors.ts";
import { type MicroUsdc, microUsdc } from "../../settlement/domain/money.ts";
import type { Turn } from "../../settlement/domain/turn.ts";
import type { Engine } from "../../settlement/engine/createEngine.ts";
import type { Chance } from "./chance.ts";
import type { Faults } from "./faults.ts";
import { hexOf, type World } from "./world.ts";

export type Clients = ReturnType<typeof createClients>;

// Those who use the service. They repeat what was not answered, under the same id, until they know; and they remember
// everything that the service has acknowledged.
export function createClients(engine: Engine, chance: Chance, faults: Faults, world: World, wait: () => Promise<void>) {
  const spentIn = new Map<string, { budget: bigint; captured: bigint }>();
  let acknowledged = 0n;
  let busy = 0;
  let names = 0;
  const objections: string[] = [];

  async function certain<T extends { kind: string }>(ask: () => Promise<T>): Promise<T> {
    let asked = 0;
    for (;;) {
      try {
        asked += 1;
        const answer = await ask();
        if (asked === 1 && answer.kind === "duplicate") objections.push("a first call was answered as a duplicate");
        if (!faults.strike("an answer to a client is lost", 0.03)) return answer;
      } catch (error) {
        if (!(error instanceof SettlementError && error.retryable)) throw error;
        await wait();
      }
    }
  }

  const priced = (): MicroUsdc => microUsdc(BigInt(chance.below(chance.pick([20, 50_000, 2_000_000]))));

  async function deliver(): Promise<void> {
    const tools = chance.shuffled(world.tools).slice(0, chance.below(world.tools.length + 1));
    const turn: Turn = {
      id: `turn ${names++}`,
      payer: chance.pick(world.payers),
      outcome: chance.happens(0.1) ? "failed" : "delivered",
      modelCost: priced(),
      tools: tools.map((toolId) => ({ toolId, amount: priced(), calls: chance.between(1, 9) })),
      requestHash: hexOf(names),
      responseHash: hexOf(names + 1),
    };
    const answer = await certain(() => engine.recordTurn(turn));
    if (answer.kind === "conflict") objections.push(`${turn.id} was delivered once and is in conflict with itself`);
    acknowledged += turn.tools.reduce((sum, { amount }) => sum + amount, 0n) + turn.modelCost;
    if (!chance.happens(0.1)) return;
    const other = await certain(() =>
      engine.recordTurn({ ...turn, modelCost: microUsdc(turn.modelCost + 1n) }).then(first),
    );
    if (other.kind !== "conflict") objections.push(`another turn under the id of ${turn.id} was ${other.kind}`);
  }

  // An answer to a question whose first answer may well be about an earlier call.
  const first = <T extends { kind: string }>(answer: T) => ({ ...answer });

  async function visit(): Promise<void> {
    const id = `session ${names++}`;
    const payer: Address = chance.pick(world.payers);
    const budget = microUsdc(BigInt(chance.between(1, 3_000_000)));
    const opened = await certain(() => engine.startSession(id, payer, budget));
    if (opened.kind !== "opened" && opened.kind !== "duplicate") return;
    spentIn.set(id, { budget, captured: 0n });
    await Promise.all(Array.from({ length: chance.between(1, 5) }, () => use(id)));
    if (chance.happens(0.6)) await certain(() => engine.closeSession(id));
  }

  async function use(sessionId: string): Promise<void> {
    const callId = `call ${names++}`;
    const amount = priced();
    const call = { callId, sessionId, toolId: chance.pick(world.tools), method: "ask", amount };
    const fate = chance.pick(["captured", "captured", "captured", "voided", "forgotten"] as const);
    const held = await certain(() => engine.hold(call));
    if ((held.kind !== "held" && held.kind !== "duplicate") || fate === "forgotten") return;
    for (let turns = chance.below(4); turns > 0; turns--) await wait();
    if (fate === "voided") {
      const answer = await certain(() => engine.void(callId));
      if (answer.kind === "captured") objections.push(`${callId} was never captured and counts as such`);
      return;
    }
    const answer = await certain(() => engine.capture(callId, NO_HASHES));
    const session = spentIn.get(sessionId);
    if (session === undefined || (answer.kind !== "captured" && answer.kind !== "duplicate")) return;
    session.captured += amount;
    acknowledged += amount;
    if (session.captured > session.budget) objections.push(`${sessionId} captured more than its budget`);
  }

  function begin(script: () => Promise<void>): void {
    busy += 1;
    script().then(
      () => {
        busy -= 1;
      },
      (error: unknown) => objections.push(`a client was answered with ${error}`),
    );
  }

  return {
    deliver: () => begin(deliver),
    visit: () => begin(visit),
    busy: () => busy,
    acknowledged: () => acknowledged,
    objections,
  };
}
