import { expect, it } from "vitest";
import { microUsdc } from "../domain/money.ts";
import { toolOf } from "../ledger/testing/fixtures.ts";
import { type EngineContext, type EngineEvent, retryPolicy } from "./context.ts";
import { DEFAULT_POLICY } from "./policy.ts";

it("of a stake that endpoints name differently nothing is absorbed for now, and somebody is told", async () => {
  const events: EngineEvent[] = [];
  const chain = { stakes: async () => [microUsdc(500n), null, microUsdc(0n)] } as Partial<EngineContext["chain"]>;
  const context = {
    policy: { ...DEFAULT_POLICY, absorptionBps: 1_000 },
    chain: chain as EngineContext["chain"],
    random: () => 0,
    report: (event: EngineEvent) => events.push(event),
  };
  const { absorbable } = await retryPolicy(context, [toolOf(1), toolOf(2), toolOf(3)]);
  expect([toolOf(1), toolOf(2), toolOf(3)].map(absorbable)).toEqual([50n, undefined, 0n]);
  expect(events).toEqual([
    { kind: "chain_unavailable", reason: expect.stringContaining("tool 00000000-0000-0000-0000-000000000002") },
  ]);
});
