import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import type { Chain } from "../../../settlement/chain/chain.ts";
import { NO_HASH } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { audit } from "../../../settlement/engine/watch/audit.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";

let world: LocalWorld;
let settlement: WorldEngine;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(DISKLESS, "settlement-"));
  world = await startWorld({ tools: 1, payers: 1 });
  settlement = await openWorldEngine(world, { ledger: join(folder, "ledger.db") });
});

afterAll(async () => {
  await settlement?.close();
  await world?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function settle(id: string): Promise<void> {
  await settlement.engine.recordTurn({
    id,
    payer: world.payers[0]?.address ?? "0x",
    outcome: "delivered",
    modelCost: microUsdc(1_000n),
    tools: world.tools.map(({ toolId }) => ({ toolId, amount: microUsdc(100_000n), calls: 1 })),
    requestHash: NO_HASH,
    responseHash: NO_HASH,
  });
  await settlement.settleAll();
}

// The chain as it is, except that another batch becomes final right before or after one of the audit's questions.
function meanwhile(question: "finalized" | "settledBatches", when: "before" | "after", id: string): Chain {
  const ask = settlement.chain[question] as (...args: unknown[]) => Promise<unknown>;
  const changed = async (...args: unknown[]) => {
    if (when === "before") await settle(id);
    const answer = await ask(...args);
    if (when === "after") await settle(id);
    return answer;
  };
  return { ...settlement.chain, [question]: changed };
}

it.each([
  ["finalized", "before"],
  ["finalized", "after"],
  ["settledBatches", "after"],
] as const)("a batch that becomes final while an audit runs is no difference (%s, %s)", async (question, when) => {
  await settle(`${question} ${when}: already there`);
  const found = await audit(settlement.ledger, meanwhile(question, when, `${question} ${when}: meanwhile`));
  expect(found).toMatchObject({ kind: "equal" });
});
