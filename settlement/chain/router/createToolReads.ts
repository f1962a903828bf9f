import { type Address, type PublicClient, zeroAddress } from "viem";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import type { ToolId } from "../../domain/toolId.ts";
import type { Chain, Listing } from "../chain.ts";
import { chunksOf, MULTICALL, QUESTIONS_PER_MULTICALL } from "../rpc/createRpcClient.ts";
import type { Endpoints } from "../rpc/endpoints.ts";
import { onlyFrom } from "../rpc/onlyFrom.ts";
import type { Ranking } from "../rpc/rankHeads.ts";
import { stakingAbi } from "./abi.ts";
import { SUPPORTED_BY } from "./createAccountReads.ts";

export type ToolReads = Pick<Chain, "listings" | "stakes">;

// The most that a price can be in the registry. What it requires is never the least stake that there is, so that it says how many times
// its price a tool has to stake at present.
const HIGHEST_PRICE = 2n ** 48n - 1n;

// What the registry says about tools.
export function createToolReads(options: {
  endpoints: Pick<Endpoints, "names" | "askOne">;
  client: PublicClient;
  staking: Address;
  // What several endpoints say of the chain, compared; null where there is nothing to compare.
  survey: () => Promise<Ranking | null>;
}): ToolReads {
  const { endpoints, client, staking, survey } = options;

  async function toolsBy(asked: PublicClient, toolIds: readonly ToolId[]) {
    const found: { owner: Address; price: number; stake: number }[] = [];
    for (const some of chunksOf(toolIds, QUESTIONS_PER_MULTICALL)) {
      const read = await asked.multicall({
        contracts: some.map(
          (toolId) => ({ address: staking, abi: stakingAbi, functionName: "tool", args: [toolId] }) as const,
        ),
        ...MULTICALL,
      });
      found.push(...read);
    }
    return found;
  }

  async function stakesBy(asked: PublicClient, toolIds: readonly ToolId[]): Promise<MicroUsdc[]> {
    return (await toolsBy(asked, toolIds)).map(({ stake }) => microUsdc(BigInt(stake)));
  }

  return {
    // What the platform absorbs for a tool hangs on it. So every endpoint is asked, and nobody is believed about it alone: one that
    // makes up a stake would have the insurance account pay for more than the tool can be made to answer for. Nothing else waits for
    // one that does not answer.
    async stakes(toolIds) {
      const compared = await survey();
      if (compared === null) return stakesBy(client, toolIds);
      const { shared } = compared;
      if (shared === null) return toolIds.map(() => null);
      const asked = endpoints.names.map((name) => stakesBy(onlyFrom(endpoints, name, shared.block), toolIds));
      const answers = (await Promise.allSettled(asked)).flatMap((answer) =>
        answer.status === "fulfilled" ? [answer.value] : [],
      );
      if (answers.length < Math.min(SUPPORTED_BY, shared.endpoints)) return toolIds.map(() => null);
      return toolIds.map((_, i) => {
        const [stake = null, ...others] = new Set(answers.map((answer) => answer[i]));
        return others.length === 0 ? stake : null;
      });
    },

    async listings(toolIds: readonly ToolId[]) {
      const found: (Listing | null)[] = [];
      if (toolIds.length === 0) return found;
      const required = await client.readContract({
        address: staking,
        abi: stakingAbi,
        functionName: "requiredStake",
        args: [HIGHEST_PRICE],
      });
      for (const { owner, price, stake } of await toolsBy(client, toolIds)) {
        const isListed = owner !== zeroAddress;
        const maxPrice = microUsdc((BigInt(stake) * HIGHEST_PRICE) / required);
        found.push(isListed ? { price: microUsdc(BigInt(price)), stake: microUsdc(BigInt(stake)), maxPrice } : null);
      }
      return found;
    },
  };
}
