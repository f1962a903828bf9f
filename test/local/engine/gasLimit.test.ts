import type { Address, Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { budgetTypedData } from "../../../settlement/chain/router/budgetDigest.ts";
import { encodeSettle, NO_BATCH } from "../../../settlement/chain/router/settleCall.ts";
import type { BatchRow } from "../../../settlement/domain/batch/batch.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { gasLimitOf } from "../../../settlement/engine/submit/gasLimit.ts";

// A batch has room for so many rows with as many lines as a row can have.
const FULL = 40;
const MOST_LINES = 255;
const FEW = 60;
// As many as have room in a batch with a list each.
const WITH_LISTS = 15;
const MOST_TOOLS = 255;
const TOOLS = 20;

type Change = () => Promise<unknown>;

describe("the gas of a batch, on the contracts", () => {
  let world: LocalWorld;
  let router: Address;
  let snapshot: unknown;

  beforeAll(async () => {
    world = await startWorld({ tools: TOOLS, payers: FEW });
    router = (await world.router.getAddress()) as Address;
    snapshot = await world.rpc("evm_snapshot");
  });
  afterAll(() => world?.stop());
  beforeEach(async () => {
    await world.rpc("evm_revert", [snapshot]);
    snapshot = await world.rpc("evm_snapshot");
  });

  // Those whom the next batch charges.
  let charged = FEW;
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
  const capDrainAndUnstake: Change = () => cap().then(drainAndUnstake);
  // The row fails before anybody looks at its budget or its money.
  const shut = each((payer) => mined(world.router.connect(payer).setDailyCap(1n)));
  const demand = each((payer) => mined(world.router.connect(payer).setConsentRequired(true)));
  const shutAndUnstake: Change = () => Promise.all([shut(), unstake()]);
  const CHANGES = {
    nothing,
    drain,
    revoke,
    cap,
    unstake,
    drainAndUnstake,
    capDrainAndUnstake,
    shut,
    shutAndUnstake,
    demand,
  } as const;
  type Name = keyof typeof CHANGES;

  // What a row draws on: the wallet or prepaid money, under no budget or under one that it brings, for all tools or for its own.
  const SOURCES = [
    "wallet",
    "prepaid balance",
    "budget",
    "budget for tools",
    "prepaid balance under a budget",
  ] as const;
  type Source = (typeof SOURCES)[number];

  async function prepay(): Promise<void> {
    for (const payer of world.payers.slice(0, charged)) await mined(world.usdc.mint(payer, 1_000n));
    await each((payer) => mined(world.router.connect(payer).deposit(1_000n)))();
  }

  async function drawingOn(
    source: Source,
    lines: number,
    others: readonly ToolId[] = [],
  ): Promise<(payer: Address) => Partial<BatchRow>> {
    const prepaid = source.startsWith("prepaid");
    if (source === "wallet" || source === "prepaid balance") return () => ({ prepaid });
    const tools =
      source === "budget for tools" ? [...others, ...world.tools.slice(0, lines).map(({ toolId }) => toolId)] : [];
    const terms = { id: 7n, maxSpend: microUsdc(1_000n), validUntil: 2n ** 40n - 1n, tools };
    const budgets = new Map<Address, BatchRow>();
    for (const account of world.payers.slice(0, charged)) {
      const payer = account.address.toLowerCase() as Address;
      const { domain, types, message } = budgetTypedData({ chainId: world.chainId, router }, { ...terms, payer });
      const signature = (await account.signTypedData(domain, { Budget: [...types.Budget] }, message)) as Hex;
      const { id, maxSpend, validUntil } = terms;
      const signed = { maxSpend, validUntil, signature };
      budgets.set(payer, { payer, modelCost: 1n, lines: [], prepaid, budget: { id, tools, signed } });
    }
    return (payer) => budgets.get(payer) ?? {};
  }

  const batchOf = (
    lines: number,
    drawing: (payer: Address) => Partial<BatchRow> = () => ({}),
  ): { kind: "settle"; calldata: Hex } => ({
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
          ...drawing(payer),
          modelCost: 1n,
          lines: Array.from({ length: lines }, (_, line) => ({ toolIndex: line % TOOLS, amount: 1n })),
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
    charged = FULL;
    const batch = batchOf(MOST_LINES);
    const simulated = await needed(batch);
    expect(gasLimitOf(batch, simulated).worst).toBeGreaterThan(await within(drainAndUnstake, () => needed(batch)));
  });

  it("is enough for budgets for as many tools as a list has, of which a row draws on few", async () => {
    charged = WITH_LISTS;
    const others = Array.from(
      { length: MOST_TOOLS - TOOLS },
      (_, n) => `0x${n.toString(16).padStart(32, "0")}` as ToolId,
    );
    for (const lines of [1, TOOLS]) {
      const batch = batchOf(lines, await drawingOn("budget for tools", lines, others));
      const simulated = await within(shut, () => needed(batch));
      expect(gasLimitOf(batch, simulated).worst, `${lines} lines`).toBeGreaterThan(await needed(batch));
    }
  });

  it.each(SOURCES)("is enough for rows of a %s whatever payers and developers do meanwhile", async (source) => {
    charged = FEW;
    const batches = await Promise.all(
      [0, 1, TOOLS].map(async (lines) => ({ lines, batch: batchOf(lines, await drawingOn(source, lines)) })),
    );
    if (source.startsWith("prepaid")) await prepay();
    const used = new Map<Name, bigint[]>();
    for (const name of Object.keys(CHANGES) as Name[]) {
      used.set(name, await within(CHANGES[name], () => Promise.all(batches.map(({ batch }) => needed(batch)))));
    }
    for (const [i, { lines, batch }] of batches.entries()) {
      for (const [before, simulated] of used) {
        const { worst } = gasLimitOf(batch, simulated[i] ?? 0n);
        for (const [after, gas] of used) {
          expect(worst, `${lines} lines: ${before}, then ${after}`).toBeGreaterThan(gas[i] ?? 0n);
        }
      }
      // Nor is a transaction that has not as much sent for it, although tools are staked again and rows looked cheap without.
      for (const name of ["nothing", "unstake"] as const) {
        expect(gasLimitOf(batch, 0n).least, `${lines} lines: ${name}`).toBeGreaterThan(used.get(name)?.[i] ?? 0n);
      }
      // A fifth more than was simulated is not.
      const good = used.get("nothing")?.[i] ?? 0n;
      if (source === "wallet" && lines > 0) {
        expect(used.get("drainAndUnstake")?.[i]).toBeGreaterThan(good + good / 5n + 50_000n);
      }
    }
  });
});
