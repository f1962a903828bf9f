import { type Address, type Hex, numberToHex, type PublicClient } from "viem";
import type { Chain } from "../chain.ts";
import { routerAbi, usdcAbi } from "./abi.ts";

export type TokenReads = Pick<Chain, "availability" | "tokenImplementation">;

// Where Circle's proxy, which is older than EIP-1967, keeps its implementation, and where newer proxies do.
const IMPLEMENTATION_SLOTS: readonly Hex[] = [
  "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3",
  "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc",
];

// Whether USDC lets the router charge anybody, and which code it runs.
export function createTokenReads(options: { client: PublicClient; router: Address; usdc: Address }): TokenReads {
  const { client, router, usdc } = options;
  return {
    async availability() {
      const [routerPaused, tokenPaused, blacklisted] = await Promise.all([
        client.readContract({ address: router, abi: routerAbi, functionName: "paused" }),
        client.readContract({ address: usdc, abi: usdcAbi, functionName: "paused" }),
        client.readContract({ address: usdc, abi: usdcAbi, functionName: "isBlacklisted", args: [router] }),
      ]);
      if (tokenPaused) return { kind: "unavailable", reason: "USDC is paused" };
      if (blacklisted) return { kind: "unavailable", reason: "USDC has blacklisted the router" };
      if (routerPaused) return { kind: "unavailable", reason: "the router is paused" };
      return { kind: "available" };
    },

    async tokenImplementation() {
      for (const slot of IMPLEMENTATION_SLOTS) {
        const word = BigInt((await client.getStorageAt({ address: usdc, slot })) ?? 0);
        if (word !== 0n) return numberToHex(word, { size: 20 });
      }
      return null;
    },
  };
}
