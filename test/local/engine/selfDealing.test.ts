import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { NO_HASHES } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { splitRevenue } from "../../../settlement/domain/split.ts";
import { DEFAULT_POLICY } from "../../../settlement/engine/policy.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";

const USDC = 1_000_000n;
const MONEY = 900n * USDC;
const WALLETS_A_DAY = 5;
// For so long a stake can be slashed after its owner has asked for it.
const DAYS = 7;
const HOUR_MS = 3_600_000;
// Enough for all attempts of a charge, and for the insurance account after them.
const HOURS_TO_GIVE_UP = 4;
// What it asks for a call. The last is what a tool that is listed for nothing, with the smallest stake, may cost.
const PRICES = [MONEY, 10n * USDC, USDC, USDC / 10n];

// One developer with a tool of its own, wallets of its own, and 900 USDC that it moves on before anybody settles. In the first
// edition the insurance account lost 4,500 USDC to it on the first day.
describe("a developer who buys from itself and takes the money away", () => {
  let world: LocalWorld;
  let settlement: WorldEngine;
  let folder: string;
  let calls = 0;
  const delivered: bigint[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "settlement-"));
    const payers = DAYS * WALLETS_A_DAY + 1;
    world = await startWorld({ tools: 1, payers, payerBalance: 1n, toolPrice: 0n });
    settlement = await openWorldEngine(world, { ledger: join(folder, "ledger.db") });
    await mined(world.usdc.mint(walletOf(0), MONEY));
  });

  afterAll(async () => {
    await settlement?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const tool = () => world.tools[0] as LocalWorld["tools"][number];
  const walletOf = (n: number) => world.payers[n] as LocalWorld["payers"][number];
  const addressOf = (n: number) => walletOf(n).address.toLowerCase() as Address;
  const insured = () => world.usdc.balanceOf(world.parties.insurance);
  const gained = () => world.router.creditOf(tool().developer);

  // Calls its own tool for as much as it is let, in two sessions at a time.
  async function buy(wallet: number): Promise<bigint> {
    const { engine } = settlement;
    const sessions = [0, 1].map((n) => `session-${wallet}-${n}`);
    for (const id of sessions) {
      expect(await engine.startSession(id, addressOf(wallet), microUsdc(MONEY))).toMatchObject({ kind: "opened" });
    }
    let bought = 0n;
    for (let step = 0; step < PRICES.length; ) {
      const price = PRICES[step] ?? 0n;
      const ids = sessions.map((sessionId) => ({ sessionId, callId: `call-${calls++}` }));
      const call = { toolId: tool().toolId, method: "m", amount: microUsdc(price) };
      const held = await Promise.all(ids.map((id) => engine.hold({ ...call, ...id })));
      for (const [i, { kind }] of held.entries()) {
        if (kind !== "held") continue;
        await engine.capture(ids[i]?.callId ?? "", NO_HASHES);
        bought += price;
      }
      if (held.every(({ kind }) => kind !== "held")) step += 1;
    }
    return bought;
  }

  async function moveOn(wallet: number): Promise<void> {
    const from = walletOf(wallet);
    const left = await world.usdc.balanceOf(from);
    await mined(world.usdc.connect(from).transfer(walletOf(wallet + 1), left));
    await settlement.untilCacheIsOld();
  }

  async function letHoursPass(hours: number): Promise<void> {
    for (let step = 0; step < 4 * hours; step++) {
      await settlement.engine.tick();
      await world.rpc("anvil_mine", ["0x3"]);
      settlement.clock.advance(HOUR_MS / 4);
    }
  }

  it("loses a larger stake than it gains, however many wallets it has, for as long as the stake can be slashed", async () => {
    const { stake } = tool();
    const before = await insured();
    const most = (stake * BigInt(DEFAULT_POLICY.absorptionBps)) / 10_000n;
    for (let day = 0; day < DAYS; day++) {
      for (let n = 0; n < WALLETS_A_DAY; n++) {
        const wallet = day * WALLETS_A_DAY + n;
        delivered.push(await buy(wallet));
        await moveOn(wallet);
      }
      await letHoursPass(HOURS_TO_GIVE_UP);
      expect(before - (await insured())).toBeLessThanOrEqual(BigInt(day + 1) * most);
      settlement.clock.advance((24 - HOURS_TO_GIVE_UP) * HOUR_MS);
    }
    // It was let buy up to its credit and no further, and the insurance account did pay for some of it.
    for (const bought of delivered) expect(bought).toBeGreaterThan(0n);
    for (const bought of delivered) expect(bought).toBeLessThanOrEqual(DEFAULT_POLICY.credit.base);
    const absorbed = before - (await insured());
    expect(absorbed).toBeGreaterThan(0n);
    expect(await gained()).toBeLessThan(absorbed);
    expect(await gained()).toBeLessThan(stake);

    // Whoever looks takes the stake.
    const terms = {
      amount: stake,
      evidenceHash: `0x${"11".repeat(32)}`,
      reporter: walletOf(DAYS * WALLETS_A_DAY),
      refunds: [],
    };
    const { adjudicator } = world.parties;
    await mined(world.staking.connect(adjudicator).proposeSlash(tool().toolId, terms));
    await world.rpc("evm_increaseTime", [4 * 24 * 3_600]);
    await mined(world.staking.connect(adjudicator).executeSlash(tool().toolId, terms));
    expect((await world.staking.tool(tool().toolId)).stake).toBe(0n);
  });

  it("is owed the rest by its own wallets, and is paid it only if they pay", async () => {
    const { engine, ledger } = settlement;
    const exposures = await ledger.readExposures(delivered.map((_, wallet) => addressOf(wallet)));
    const [owed, absorbed] = ["owed", "debt"].map((part) =>
      exposures.reduce((sum, exposure) => sum + exposure[part as "owed" | "debt"], 0n),
    );
    expect((owed ?? 0n) + (absorbed ?? 0n)).toBe(delivered.reduce((sum, bought) => sum + bought, 0n));
    expect(owed).toBeGreaterThan(absorbed ?? 0n);

    // The tool is staked again, and one of the wallets has money again.
    const wallet = exposures.findIndex(({ debt }) => debt === 0n);
    const own = exposures[wallet]?.owed ?? 0n;
    await mined(world.usdc.mint(tool().developer, tool().stake));
    await mined(world.usdc.connect(tool().developer).approve(world.staking, tool().stake));
    await mined(world.staking.connect(tool().developer).stake(tool().toolId, tool().stake));
    await mined(world.usdc.mint(walletOf(wallet), own));
    await settlement.untilCacheIsOld();
    expect(await engine.preflight(addressOf(wallet), microUsdc(1n))).toMatchObject({ code: "payment_failed" });
    const [credit, insurance] = [await gained(), await insured()];
    await letHoursPass(1);
    expect(await gained()).toBe(credit + splitRevenue(own).developerShare);
    expect(await insured()).toBe(insurance);
    expect((await ledger.readExposures([addressOf(wallet)]))[0]).toMatchObject({ pending: 0n, owed: 0n, settled: own });
    expect(await ledger.audit()).toEqual([]);
  });
});
