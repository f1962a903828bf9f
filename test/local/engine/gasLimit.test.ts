import type { Address, Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { encodeSettle, NO_BATCH } from "../../../settlement/chain/router/settleCall.ts";
import { gasLimitOf } from "../../../settlement/engine/submit/gasLimit.ts";

// So many that what a line costs shows beside what a row and a tool do.
const PAYERS = 280;
const FEW = 60;
const TOOLS = 20;

type Change = () => Promise<unknown>;

describe("the gas of a batch, on the contracts", () => {
  let world: LocalWorld;
  let router: Address;
  let snapshot: unknown;

  beforeAll(async () => {
    world = await startWorld({ tools: TOOLS, payers: PAYERS });
    router = (await world.router.getAddress()) as Address;
    snapshot = await world.rpc("evm_snapshot");
  });
  afterAll(() => world?.stop());
  beforeEach(async () => {
    await world.rpc("evm_revert", [snapshot]);
    snapshot = await world.rpc("evm_snapshot");
  });

  // Those whom the next batch charges.
  let charged = PAYERS;
  const each = (change: (payer: LocalWorld["payers"][number]) => Promise<unknown>) => () =>
    Promise.all(world.payers.slice(0, charged).map(change));
  const nothing: Change = async () => {};
  const drain = each((payer) => mined(world.usdc.connect(payer).transfer(world.circle, 1_000_000_000n)));
  const revoke = each((payer) => mined(world.usdc.connect(payer).approve(router, 0n)));
  const cap = each((payer) => mined(world.router.connect(payer).setDailyCap(10n ** 9n)));
  const unstake: Change = () =>
    Promise.all(
      world.tools.map(({ developer, toolId }) => mined(world.staking.connect(developer).requestWithdrawal(toolId, 1n))),
    );
  const drainAndUnstake: Change = () => Promise.all([drain(), unstake()]);
  const CHANGES = { nothing, drain, revoke, cap, unstake, drainAndUnstake } as const;
  type Name = keyof typeof CHANGES;

  const batchOf = (lines: number): { kind: "settle"; calldata: Hex } => ({
    kind: "settle",
    calldata: encodeSettle({
      previous: NO_BATCH,
      batchId: `0x${"11".repeat(32)}`,
      toolIds: world.tools.slice(0, lines).map(({ toolId }) => toolId),
      rows: world.payers
        .slice(0, charged)
        .map(({ address }) => address.toLowerCase() as Address)
        .sort()
        .map((payer) => ({
          payer,
          modelCost: 1n,
          lines: Array.from({ length: lines }, (_, toolIndex) => ({ toolIndex, amount: 1n })),
        })),
    }),
  });

  async function needed({ calldata }: { calldata: Hex }): Promise<bigint> {
    const call = { from: world.operators[0]?.address, to: router, data: calldata };
    return BigInt((await world.rpc("eth_estimateGas", [call])) as Hex);
  }

  async function within<T>(state: Change, ask: () => Promise<T>): Promise<T> {
    const before = await world.rpc("evm_snapshot");
    await state();
    const answer = await ask();
    await world.rpc("evm_revert", [before]);
    return answer;
  }

  it("is enough for as many lines as a batch has", async () => {
    charged = PAYERS;
    const batch = batchOf(TOOLS);
    const simulated = await needed(batch);
    expect(gasLimitOf(batch, simulated).worst).toBeGreaterThan(await within(drainAndUnstake, () => needed(batch)));
  });

  it("is enough whatever payers and developers do between simulation and inclusion", async () => {
    charged = FEW;
    const names = Object.keys(CHANGES) as Name[];
    for (const lines of [0, 1, TOOLS]) {
      const batch = batchOf(lines);
      const gas = new Map<Name, bigint>();
      for (const name of names) gas.set(name, await within(CHANGES[name], () => needed(batch)));
      for (const [before, simulated] of gas) {
        const { worst } = gasLimitOf(batch, simulated);
        for (const [after, used] of gas) {
          expect(worst, `${lines} lines: ${before}, then ${after}`).toBeGreaterThan(used);
        }
      }
      // A fifth more than was simulated is not.
      const good = gas.get("nothing") ?? 0n;
      if (lines > 0) expect(gas.get("drainAndUnstake")).toBeGreaterThan(good + good / 5n + 50_000n);
    }
  });
});
