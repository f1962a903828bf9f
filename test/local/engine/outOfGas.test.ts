import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { signBudget } from "../../../settlement/chain/router/budgetDigest.ts";
import { NO_HASHES } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc, parseUsd } from "../../../settlement/domain/money.ts";
import type { SignedBudget } from "../../../settlement/domain/payer/budget.ts";

const PAYERS = 20;
const PRICE = parseUsd("0.01");
// As if so little gas had room in a transaction: with as much as a chain gives, it would take some hundred payers.
const ROOM_FOR_JUDGES = 2_200_000n;
const ROOM_FOR_ROWS = 900_000n;
const BLOCK_GAS = 30_000_000n;
// From the rows that a batch may have to as few as these have room for, by halves.
const MAX_TICKS = 10;
const MOOD: Address = "0x00000000000000000000000000000000000000aa";
// An account that accepts any signature (ERC-1271) while there is no code at MOOD, and uses all the gas that it gets once there is.
const MOODY_ACCOUNT = `0x73${MOOD.slice(2)}3b602d57631626ba7e60e01b60005260206000f35bfe`;

// What a batch costs when it is mined is up to others. A few of them can change it for all of its rows at once, and would do so for every
// batch if that cost the platform more than them.
describe("a batch that others want to run out of gas", () => {
  let world: LocalWorld;
  let settlement: WorldEngine;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "settlement-"));
    world = await startWorld({ tools: 1, payers: PAYERS, toolPrice: PRICE });
    settlement = await openWorldEngine(world, { ledger: join(folder, "ledger.db") });
  });
  afterEach(async () => {
    await settlement?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const tool = () => world.tools[0] ?? expect.fail("there is no tool");

  // Every payer buys one call under a budget of its own.
  async function buy(sign: (payer: LocalWorld["payers"][number], budget: SignedBudget) => Promise<SignedBudget>) {
    const { engine, clock } = settlement;
    const validUntil = BigInt(Math.floor(clock.nowMs() / 1_000) + 86_400);
    for (const [n, payer] of world.payers.entries()) {
      const account = payer.address.toLowerCase() as Address;
      const terms = { payer: account, id: 7n, maxSpend: parseUsd("1"), validUntil, tools: [], signature: "0x" as Hex };
      const opened = await engine.startSession(`s${n}`, account, microUsdc(PRICE), undefined, await sign(payer, terms));
      expect(opened.kind).toBe("opened");
      const call = { callId: `c${n}`, sessionId: `s${n}`, toolId: tool().toolId, method: "m", amount: PRICE };
      expect(await engine.hold(call)).toMatchObject({ kind: "held" });
      await engine.capture(call.callId, NO_HASHES);
      await engine.closeSession(`s${n}`);
    }
  }

  // Sends what is due, lets somebody act before it is mined, and says how each of the transactions ended.
  async function settleWhile(act: () => Promise<unknown>, room: bigint): Promise<string[]> {
    // A transaction fits into a block. Only the newest block is so small, so that reads have their gas.
    for (const gas of [room, BLOCK_GAS]) {
      await world.rpc("evm_setBlockGasLimit", [`0x${gas.toString(16)}`]);
      if (gas === room) await world.rpc("evm_mine", []);
    }
    await world.rpc("evm_setAutomine", [false]);
    const sent = () => settlement.events.flatMap((event) => (event.kind === "sent" ? [event.txHash] : []));
    for (let tick = 0; tick < MAX_TICKS && sent().length === 0; tick++) await settlement.engine.tick();
    await act();
    expect(sent()).not.toEqual([]);
    for (const _ of sent()) await world.rpc("evm_mine", []);
    await world.rpc("evm_setAutomine", [true]);
    const receipts = await Promise.all(sent().map((hash) => world.rpc("eth_getTransactionReceipt", [hash])));
    return receipts.map((receipt) => (receipt as { status: string } | null)?.status ?? "not mined");
  }

  it("has room for smart accounts that are of another mind when it is mined", async () => {
    for (const { address } of world.payers) await world.rpc("anvil_setCode", [address, MOODY_ACCOUNT]);
    await buy(async (_, budget) => ({ ...budget, signature: "0xabcdef" }));
    const ended = await settleWhile(() => world.rpc("anvil_setCode", [MOOD, "0x00"]), ROOM_FOR_JUDGES);
    expect(new Set(ended)).toEqual(new Set(["0x1"]));
  });

  it("has room for all rows of a tool that is staked again before it is mined", async () => {
    const key = ({ privateKey }: LocalWorld["payers"][number]) => privateKeyToAccount(privateKey);
    const domain = { chainId: world.chainId, router: settlement.chain.router };
    await buy((payer, budget) => signBudget(key(payer), domain, budget));
    const { developer, toolId, stake } = tool();
    const owner = world.staking.connect(developer);
    await mined(owner.requestWithdrawal(toolId, stake));
    const ended = await settleWhile(
      () =>
        owner.cancelWithdrawal(toolId, {
          maxPriorityFeePerGas: 10n ** 10n,
          maxFeePerGas: 10n ** 12n,
          gasLimit: 100_000n,
        }),
      ROOM_FOR_ROWS,
    );
    expect(new Set(ended)).toEqual(new Set(["0x1"]));
    expect((await world.staking.tool(toolId)).stake).toBe(stake);
  });
});
