import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { NO_HASH, NO_HASHES } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { splitRevenue } from "../../../settlement/domain/split.ts";
import { verifyProof } from "../../../settlement/engine/watch/prove.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";

const PAYERS = 100;
const TOOLS = 20;
const TOOLS_PER_PAYER = 5;
const CALLS_PER_PAYER = 100;
const CALL_PRICE = microUsdc(1_000n);
const TURNS = 50;
const TURN_PRICE = microUsdc(100_000n);
const MODEL_COST = microUsdc(12_345n);

// These payers make trouble between delivery and settlement.
const REVOKES = 3;
const DRAINS = 14;
const BLACKLISTED = 58;
// This tool's developer takes the stake out meanwhile.
const UNSTAKED = 7;

describe("10,000 calls and 50 turns of 100 payers on 20 tools, on a real chain", () => {
  let world: LocalWorld;
  let settlement: WorldEngine;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "settlement-"));
    world = await startWorld({ tools: TOOLS, payers: PAYERS });
    settlement = await openWorldEngine(world, { ledger: join(folder, "ledger.db") });
  });

  afterAll(async () => {
    await settlement?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("every charge ends final, refused or absorbed, and the chain's sums are the ledger's to the unit", async () => {
    const { engine, ledger } = settlement;
    await deliverCalls();
    await deliverTurns();
    const accrued = (await ledger.readTotals()).accrued;
    expect(accrued).toBe(BigInt(PAYERS * CALLS_PER_PAYER) * CALL_PRICE + BigInt(TURNS) * (TURN_PRICE + MODEL_COST));

    const before = await balances();
    await makeTrouble();
    await settlement.settleAll();

    const totals = await ledger.readTotals();
    expect(totals.pending).toBe(0n);
    expect(totals.settled + totals.absorbed + totals.refused + totals.voided).toBe(accrued);
    expect(totals.absorbed).toBeGreaterThan(0n);
    expect(totals.refused).toBeGreaterThan(0n);

    const after = await balances();
    const paid = new Map((await ledger.readSettledByAccount()).map(({ account, amount }) => [account, amount]));
    // Whoever drained the wallet was never charged; everybody else lost exactly what the ledger says.
    expect(paid.get(addressOf(DRAINS))).toBeUndefined();
    for (const [account, balance] of before) {
      if (account === addressOf(DRAINS)) continue;
      expect(balance - (after.get(account) ?? 0n)).toBe(paid.get(account) ?? 0n);
    }
    const earned = await ledger.readSettledByTool();
    let credits = await world.router.creditOf(world.parties.treasury);
    for (const { toolId, developer } of world.tools) {
      const { amount = 0n } = earned.find((tool) => tool.toolId === toolId) ?? {};
      const credit = await world.router.creditOf(developer.address);
      const { developerShare } = splitRevenue(amount);
      // The split is made per batch, and each time rounding favours the developer by less than a unit.
      expect(credit).toBeGreaterThanOrEqual(developerShare);
      expect(credit).toBeLessThan(developerShare + BigInt((await ledger.listBatches(1000, 0)).length));
      credits += credit;
    }
    const onChain = await world.usdc.balanceOf(world.router);
    expect(credits).toBe(onChain);
    expect(onChain).toBe(totals.settled + totals.absorbed);
    expect(await engine.audit()).toEqual({ kind: "equal", batches: (await ledger.listBatches(1000, 0)).length });
  });

  it("a second run of everything changes nothing", async () => {
    const { ledger } = settlement;
    const before = await ledger.readTotals();
    const onChain = await world.usdc.balanceOf(world.router);
    await deliverTurns();
    for (const [payer, call] of [
      [0, 0],
      [57, 99],
    ] as const) {
      const outcome = await settlement.engine.capture(callId(payer, call), NO_HASHES);
      expect(outcome.kind).toBe("duplicate");
    }
    await settlement.settleAll();
    expect(await ledger.readTotals()).toEqual(before);
    expect(await world.usdc.balanceOf(world.router)).toBe(onChain);
  });

  it("a payer whose charge was absorbed is refused until the debt is cleared", async () => {
    const { engine, ledger } = settlement;
    const payer = addressOf(REVOKES);
    await mined(world.usdc.connect(walletOf(REVOKES)).approve(world.router, 10n ** 12n));
    await settlement.untilCacheIsOld();
    const refused = await engine.preflight(payer, CALL_PRICE);
    expect(refused).toMatchObject({ code: "payment_failed", reason: expect.stringContaining("still owed") });
    const debt = await ledger.clearDebt(payer);
    expect(debt).toBe("funds" in refused ? refused.funds.debt : null);
    expect((await engine.preflight(payer, CALL_PRICE)).code).toBe("ok");
  });

  it("any charge can be proven against the root on chain", async () => {
    const { engine, ledger } = settlement;
    const [charge] = await ledger.listChargesOf({ callId: callId(42, 17) });
    const outcome = await engine.prove(charge?.id ?? NO_HASH);
    expect(outcome.kind).toBe("proof");
    if (outcome.kind !== "proof") return;
    expect(verifyProof(outcome.proof)).toBe(true);
    expect(await world.router.settledAt(outcome.proof.root)).toBe(outcome.proof.settledAt);
    expect(outcome.proof.settledAt).toBeGreaterThan(0n);
  });

  const addressOf = (payer: number) => world.payers[payer]?.address.toLowerCase() as Address;
  const walletOf = (payer: number) => world.payers[payer] as KeyedAccount;
  const callId = (payer: number, call: number) => `call-${payer}-${call}`;
  const toolOf = (payer: number, n: number) => world.tools[(payer * 3 + n * 4) % TOOLS];

  async function deliverCalls() {
    const { engine } = settlement;
    await Promise.all(
      Array.from({ length: PAYERS }, async (_, payer) => {
        const sessionId = `session-${payer}`;
        await engine.startSession(sessionId, addressOf(payer), microUsdc(BigInt(CALLS_PER_PAYER) * CALL_PRICE));
        for (let call = 0; call < CALLS_PER_PAYER; call++) {
          const tool = toolOf(payer, call % TOOLS_PER_PAYER);
          if (!tool) throw new RangeError("no such tool");
          const id = callId(payer, call);
          const held = await engine.hold({
            callId: id,
            sessionId,
            toolId: tool.toolId,
            method: "m",
            amount: CALL_PRICE,
          });
          expect(held.kind).toBe("held");
          expect((await engine.capture(id, NO_HASHES)).kind).toBe("captured");
        }
        await engine.closeSession(sessionId);
      }),
    );
  }

  async function deliverTurns() {
    const { engine } = settlement;
    for (let turn = 0; turn < TURNS; turn++) {
      const tool = world.tools[turn % TOOLS];
      if (!tool) throw new RangeError("no such tool");
      await engine.recordTurn({
        id: `turn-${turn}`,
        payer: addressOf(turn),
        outcome: "delivered",
        modelCost: MODEL_COST,
        tools: [{ toolId: tool.toolId, amount: TURN_PRICE, calls: 3 }],
        requestHash: NO_HASH,
        responseHash: NO_HASH,
      });
    }
  }

  async function makeTrouble() {
    await mined(world.usdc.connect(walletOf(REVOKES)).approve(world.router, 0n));
    const drained = addressOf(DRAINS);
    const balance = await world.usdc.balanceOf(drained);
    await mined(world.usdc.connect(walletOf(DRAINS)).transfer(world.parties.treasury, balance));
    await mined(world.usdc.blacklist(addressOf(BLACKLISTED)));
    const tool = world.tools[UNSTAKED];
    if (!tool) throw new RangeError("no such tool");
    await mined(world.staking.connect(tool.developer).requestWithdrawal(tool.toolId, tool.stake));
  }

  async function balances(): Promise<Map<Address, bigint>> {
    const accounts = [...world.payers.map(({ address }) => address), world.parties.insurance.address as Address];
    const amounts = await Promise.all(accounts.map((account) => world.usdc.balanceOf(account)));
    return new Map(accounts.map((account, i) => [account.toLowerCase() as Address, amounts[i] ?? 0n]));
  }
});
