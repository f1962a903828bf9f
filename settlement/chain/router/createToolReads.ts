import { type Address, type PublicClient, zeroAddress } from "viem";
import { microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import type { Chain, Listing } from "../chain.ts";
import { chunksOf, MULTICALL, QUESTIONS_PER_MULTICALL } from "../rpc/createRpcClient.ts";
import { stakingAbi } from "./abi.ts";

export type ToolReads = Pick<Chain, "listings">;

// The most that a price can be in the registry. What it requires is never the least stake that there is, so that it says how many times
// its price a tool has to stake at present.
const HIGHEST_PRICE = 2n ** 48n - 1n;

// What the registry says about tools.
export function createToolReads({ client, staking }: { client: PublicClient; staking: Address }): ToolReads {
  return {
    async listings(toolIds: readonly ToolId[]) {
      const found: (Listing | null)[] = [];
      if (toolIds.length === 0) return found;
      const required = await client.readContract({
        address: staking,
        abi: stakingAbi,
        functionName: "requiredStake",
        args: [HIGHEST_PRICE],
      });
      for (const some of chunksOf(toolIds, QUESTIONS_PER_MULTICALL)) {
        const read = await client.multicall({
          contracts: some.map(
            (toolId) => ({ address: staking, abi: stakingAbi, functionName: "tool", args: [toolId] }) as const,
          ),
          ...MULTICALL,
        });
        for (const { owner, price, stake } of read) {
          const isListed = owner !== zeroAddress;
          const maxPrice = microUsdc((BigInt(stake) * HIGHEST_PRICE) / required);
          found.push(isListed ? { price: microUsdc(BigInt(price)), stake: microUsdc(BigInt(stake)), maxPrice } : null);
        }
      }
      return found;
    },
  };
}
