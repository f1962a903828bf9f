import { describe, expect, it } from "vitest";
import { type LocalWorld, startWorld, type WorldOptions } from "../../../scripts/world/startWorld.ts";

const OPTIONS: WorldOptions = { tools: 3, payers: 5, operators: 2, payerBalance: 7_000_000n };
const MINUTE_SECONDS = 60;

async function inWorld<T>(options: WorldOptions, look: (world: LocalWorld) => Promise<T>): Promise<T> {
  const world = await startWorld(options);
  try {
    return await look(world);
  } finally {
    await world.stop();
  }
}

// Nobody else wants this balance, so it is built here, and loaded afterwards.
describe.each(["first", "again"])("a world that is wanted %s", () => {
  it("has every tool payable, every payer solvent and every operator in office", () =>
    inWorld(OPTIONS, async ({ router, staking, tools, payers, operators, parties }) => {
      const earners = await Promise.all(tools.map(({ toolId }) => staking.earner(toolId)));
      expect(earners.map(({ payee }) => payee)).toEqual(tools.map(({ developer }) => developer.address));
      const spendable = await router.spendableMany(payers.map(({ address }) => address));
      expect(spendable.map(({ amount }) => amount)).toEqual(payers.map(() => 7_000_000n));
      expect([tools.length, payers.length, operators.length]).toEqual([3, 5, 2]);
      for (const { address } of operators) {
        expect((await router.operatorLimit(address)).left).toBe(1_000_000_000_000n);
      }
      expect((await router.spendable(parties.insurance)).amount).toBe(10_000_000_000n);
    }));

  it("is in the present, and its final block has a state", () =>
    inWorld(OPTIONS, async ({ provider, rpc, router }) => {
      await rpc("anvil_mine", ["0x1"]);
      const { timestamp } = (await provider.getBlock("latest")) ?? { timestamp: 0 };
      expect(Math.abs(Date.now() / 1_000 - timestamp)).toBeLessThan(10 * MINUTE_SECONDS);
      expect(await provider.getCode(router, "finalized")).not.toBe("0x");
    }));
});

it("addresses are the same in every world", () =>
  inWorld({ tools: 1, payers: 1 }, (small) =>
    inWorld({ ...OPTIONS, toolPrice: 200_000n }, async (large) => {
      expect(await small.router.getAddress()).toBe(await large.router.getAddress());
      expect(small.tools[0]?.toolId).toBe(large.tools[0]?.toolId);
      expect(small.payers[0]?.address).toBe(large.payers[0]?.address);
    }),
  ));
