import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import type { ContextKind, Method } from "../registry/listing.ts";
import { injectContext, prepareContext } from "./injectContext.ts";

const wallet: Address = "0x00000000000000000000000000000000000000aa";
const of = (kind: ContextKind) => ({ kind, address: wallet });
const providers = {
  hyperliquid: async ([address]: readonly Address[]) => ({ kind: "hyperliquid", address }),
  polymarket: async ([address]: readonly Address[]) => ({ kind: "polymarket", address }),
  wallet: async ([address]: readonly Address[]) => ({ kind: "wallet", address }),
};

const methodOf = (contextRequirements: ContextKind[], declared: string[]) =>
  ({
    name: "quote",
    inputSchema: { type: "object", properties: Object.fromEntries(declared.map((name) => [name, {}])) },
    _meta: { contextRequirements },
  }) as unknown as Method;

const inject = (kinds: ContextKind[], declared: string[], args = {}, wallets: Address[] = [wallet], from = {}) =>
  injectContext(methodOf(kinds, declared), args, async () => wallets, { ...providers, ...from });

describe("what a method needs to know of its buyer", () => {
  it.each<[string, ContextKind[], string[], Record<string, unknown>]>([
    ["alone, nothing declared", ["hyperliquid"], [], { portfolio: of("hyperliquid") }],
    ["the wallet, nothing declared", ["wallet"], [], { wallet: of("wallet") }],
    ["the declared name", ["polymarket"], ["portfolio"], { portfolio: of("polymarket") }],
    ["the descriptive one of two", ["wallet"], ["wallet", "walletPortfolio"], { walletPortfolio: of("wallet") }],
    ["the oldest form of a wallet", ["wallet"], ["walletAddresses"], { walletAddresses: [wallet] }],
    [
      "several",
      ["hyperliquid", "wallet"],
      [],
      { hyperliquidPortfolio: of("hyperliquid"), walletPortfolio: of("wallet") },
    ],
    [
      "several of which one has a short name",
      ["polymarket", "wallet"],
      ["portfolio", "wallet"],
      { polymarketPortfolio: of("polymarket"), wallet: of("wallet") },
    ],
    ["none", [], ["portfolio"], {}],
  ])("is put where it belongs: %s", async (_what, kinds, declared, expected) => {
    expect(await inject(kinds, declared)).toEqual(expected);
  });

  it("replaces what a buyer pretends to hold, and nothing else", async () => {
    const args = { hyperliquidPortfolio: { perpPositions: ["forged"] }, portfolio: "mine", limit: 3 };
    expect(await inject(["hyperliquid"], ["hyperliquidPortfolio", "portfolio"], args)).toEqual({
      ...args,
      hyperliquidPortfolio: of("hyperliquid"),
    });
  });

  it("cannot be known without a wallet, and whoever has linked none is told where", async () => {
    await expect(inject(["wallet"], [], {}, [])).rejects.toMatchObject({ code: "wallet_link_required" });
    const help = "https://market.example/account";
    const prepared = prepareContext(methodOf(["wallet"], []), async () => [], providers, help);
    await expect(prepared).rejects.toMatchObject({ body: { code: "wallet_link_required", helpUrl: help } });
  });

  it("is a failure of the call if its source is away, whose words are nobody's, and the next one is tried", async () => {
    const away = { wallet: async () => Promise.reject(new Error("URL: https://rpc.example/key")) };
    await expect(inject(["wallet"], [], {}, [wallet], away)).rejects.toMatchObject({
      code: "execution_failed",
      isKept: false,
      body: { error: "Tool execution failed: the data of wallet cannot be read at present; try again later" },
    });
  });
});
