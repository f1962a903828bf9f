import { type Address, type PublicClient, zeroAddress } from "viem";
import { microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import type { Chain, Listing } from "../chain.ts";
import { chunksOf, MULTICALL, QUESTIONS_PER_MULTICALL } from "../rpc/createRpcClient.ts";
import { stakingAbi } from "./abi.ts";

export type ToolReads = Pick<Chain, "listings">;

// What the registry says about tools.
export function createToolReads({ client, staking }: { client: PublicClient; staking: Address }): ToolReads {
  return {
    async listings(toolIds: readonly ToolId[]) {
      const found: (Listing | null)[] = [];
      for (const some of chunksOf(toolIds, QUESTIONS_PER_MULTICALL)) {
        const read = await client.multicall({
          contracts: some.map(
            (toolId) => ({ address: staking, abi: stakingAbi, functionName: "tool", args: [toolId] }) as const,
          ),
          ...MULTICALL,
        });
        for (const { owner, price, stake } of read) {
          const isListed = owner !== zeroAddress;
          found.push(isListed ? { price: microUsdc(BigInt(price)), stake: microUsdc(BigInt(stake)) } : null);
        }
      }
      return found;
    },
  };
}
