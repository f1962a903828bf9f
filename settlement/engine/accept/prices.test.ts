import { describe, expect, it } from "vitest";
import type { Chain, Listing } from "../../chain/chain.ts";
import { SettlementError } from "../../domain/errors.ts";
import { microUsdc, parseUsd } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { toolOf } from "../../ledger/testing/fixtures.ts";
import { createPrices } from "./prices.ts";

const usd = parseUsd;
const PAID = toolOf(1);
const FREE = toolOf(2);
const UNLISTED = toolOf(3);
const MINUTE_MS = 60_000;

function open() {
  const listed = new Map<ToolId, Listing>([
    [PAID, { price: usd("0.10"), stake: usd("500"), maxPrice: usd("5") }],
    [FREE, { price: usd("0"), stake: usd("20"), maxPrice: usd("0.20") }],
  ]);
  const asked: ToolId[][] = [];
  const state = { nowMs: 0, away: false, hangs: false };
  const listings: Chain["listings"] = async (toolIds) => {
    if (state.hangs) await new Promise(() => {});
    if (state.away) throw new SettlementError("chain_unavailable", "away", { retryable: true });
    asked.push([...toolIds]);
    return toolIds.map((toolId) => listed.get(toolId) ?? null);
  };
  const prices = createPrices({
    chain: { listings } as Chain,
    clock: { nowMs: () => state.nowMs },
    policy: { listingWaitMs: 5 },
  });
  return { ...prices, listed, asked, state };
}

describe("what a tool may cost", () => {
  it("is its price, to the unit, and the sentence says so", async () => {
    const { refuse } = open();
    expect(await refuse([{ toolId: PAID, amount: usd("0.10") }], "throw")).toBeNull();
    expect((await refuse([{ toolId: PAID, amount: microUsdc(usd("0.10") + 1n) }], "throw"))?.reason).toBe(
      "tool 00000000-0000-0000-0000-000000000001 costs at most 0.10 USDC as it is listed on chain, and 0.100001 was asked for it",
    );
  });

  it("is for a tool that is listed for nothing what its stake would allow as a price", async () => {
    const { refuse } = open();
    expect(await refuse([{ toolId: FREE, amount: usd("0.20") }], "throw")).toBeNull();
    expect((await refuse([{ toolId: FREE, amount: usd("0.21") }], "throw"))?.reason).toContain("at most 0.20");
  });

  it("is not judged for a tool that is not listed, nor asked about for nothing", async () => {
    const { refuse, asked } = open();
    expect(await refuse([{ toolId: UNLISTED, amount: usd("9") }], "throw")).toBeNull();
    expect(await refuse([{ toolId: PAID, amount: usd("0") }], "throw")).toBeNull();
    expect(asked).toEqual([[UNLISTED]]);
  });

  it("is asked for once in a while, and again before anything is refused", async () => {
    const { refuse, asked, state, listed } = open();
    for (let i = 0; i < 3; i++) await refuse([{ toolId: PAID, amount: usd("0.01") }], "throw");
    expect(asked).toEqual([[PAID]]);
    listed.set(PAID, { price: usd("0.30"), stake: usd("500"), maxPrice: usd("5") });
    expect(await refuse([{ toolId: PAID, amount: usd("0.30") }], "throw")).toBeNull();
    expect(asked).toEqual([[PAID], [PAID]]);
    listed.set(PAID, { price: usd("0.05"), stake: usd("500"), maxPrice: usd("5") });
    state.nowMs = 5 * MINUTE_MS;
    expect((await refuse([{ toolId: PAID, amount: usd("0.30") }], "throw"))?.reason).toContain("at most 0.05");
  });

  it("is said of every tool of which more was asked, so that it can be asked again with no more", async () => {
    const { refuse } = open();
    const refused = await refuse(
      [
        { toolId: PAID, amount: usd("0.11") },
        { toolId: UNLISTED, amount: usd("9") },
        { toolId: FREE, amount: usd("0.30") },
      ],
      "take",
    );
    expect(refused?.listed).toEqual([
      { toolId: PAID, most: usd("0.10") },
      { toolId: FREE, most: usd("0.20") },
    ]);
    expect(refused?.reason).toMatch(
      /costs at most 0.10 USDC .* and 0.11 was asked .*; .* at most 0.20 USDC .* and 0.30 was asked/,
    );
  });

  it("is not known while the chain is away, which is a reason to wait or to go on", async () => {
    const { refuse, state } = open();
    state.away = true;
    const cost = [{ toolId: PAID, amount: usd("5") }];
    await expect(refuse(cost, "throw")).rejects.toMatchObject({ code: "chain_unavailable" });
    expect(await refuse(cost, "take")).toBeNull();
  });

  it("is not waited for while the chain says nothing at all", async () => {
    const { refuse, state } = open();
    state.hangs = true;
    expect(await refuse([{ toolId: PAID, amount: usd("5") }], "take")).toBeNull();
  });
});
