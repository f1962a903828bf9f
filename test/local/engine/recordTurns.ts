import type { LocalWorld } from "../../../scripts/world/startWorld.ts";
import { NO_HASH } from "../../../settlement/domain/charges/charge.ts";
import { type MicroUsdc, microUsdc } from "../../../settlement/domain/money.ts";
import type { Ledger } from "../../../settlement/ledger/ledger.ts";

// One delivered turn of every payer on the first tool.
export async function recordTurns(ledger: Ledger, world: LocalWorld, amount: MicroUsdc, nowMs = Date.now()) {
  const [tool] = world.tools;
  if (!tool) throw new RangeError("the local chain has no tool");
  for (const [i, { address }] of world.payers.entries()) {
    await ledger.recordTurn(
      {
        id: `turn-${i}`,
        payer: address,
        outcome: "delivered",
        modelCost: microUsdc(0n),
        tools: [{ toolId: tool.toolId, amount, calls: 1 }],
        requestHash: NO_HASH,
        responseHash: NO_HASH,
      },
      nowMs,
    );
  }
}
