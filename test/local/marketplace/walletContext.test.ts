import { type Address, createPublicClient, http } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWalletSource } from "../../../marketplace/context/sources/createWalletSource.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { USDC_ADDRESS } from "../../../scripts/world/world.ts";

let world: LocalWorld;
beforeAll(async () => {
  world = await startWorld({ payers: 1, payerBalance: 25_500_000n });
});
afterAll(() => world?.stop());

it("a buyer's wallet is what the chain says it is", async () => {
  const usdc = { address: USDC_ADDRESS as Address, symbol: "USDC", decimals: 6 };
  const client = createPublicClient({ transport: http(world.url) });
  const provide = createWalletSource({ client, chainId: world.chainId, tokens: async () => [usdc] });
  const address = world.payers[0]?.address as Address;
  const tokens = [{ ...usdc, balance: "25.5" }];
  const signal = new AbortController().signal;
  expect(await provide(address, signal)).toEqual({
    ...{ address, chainId: world.chainId, tokens, balances: tokens },
    nativeBalance: expect.stringMatching(/^\d+(\.\d+)?$/),
  });
});
