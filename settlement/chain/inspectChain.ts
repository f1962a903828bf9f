import { type Address, zeroAddress } from "viem";
import { systemClock } from "../clock.ts";
import { type MicroUsdc, microUsdc } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import { routerAbi, stakingAbi } from "./router/abi.ts";
import { readOperatorLimit } from "./router/createAccountReads.ts";
import { allAnswered } from "./rpc/answered.ts";
import { chunksOf, createRpcClient, MULTICALL, QUESTIONS_PER_MULTICALL } from "./rpc/createRpcClient.ts";
import { createEndpoints } from "./rpc/endpoints.ts";

// Questions that a person asks and the engine does not.
export type ChainInspection = {
  // What an operator may settle in 24 hours, and how much of that is left; zero for who is no operator.
  operatorLimit(operator: Address): Promise<{ limit: bigint; left: bigint; bonded: boolean }>;
  // What the registry says about tools, in the order asked; null for one that is not listed.
  tools(toolIds: readonly ToolId[]): Promise<(ToolListing | null)[]>;
};

// A tool is paid while its stake is at least what its price requires.
export type ToolListing = {
  owner: Address;
  payee: Address;
  price: MicroUsdc;
  stake: MicroUsdc;
  requiredStake: MicroUsdc;
  // Requested for withdrawal: it no longer counts as stake.
  withdrawing: MicroUsdc;
};

// A person waits for the answer, and can ask again.
const PATIENCE = { timeoutMs: 5_000, readRetries: 0 };

export function inspectChain(options: {
  chainId: number;
  rpcUrls: readonly string[];
  router: Address;
}): ChainInspection {
  const { chainId, rpcUrls, router } = options;
  const addresses = rpcUrls.map((url, i) => ({ name: `endpoint ${i + 1}`, url }));
  const client = createRpcClient(
    createEndpoints({ addresses, chainId, clock: systemClock, random: Math.random, ...PATIENCE }),
  );

  return allAnswered({
    operatorLimit: (operator: Address) => readOperatorLimit(client, router, operator),

    async tools(toolIds: readonly ToolId[]) {
      const address = await client.readContract({ address: router, abi: routerAbi, functionName: "staking" });
      const found: (ToolListing | null)[] = [];
      for (const some of chunksOf(toolIds, QUESTIONS_PER_MULTICALL)) {
        const tools = await client.multicall({
          contracts: some.map((id) => ({ address, abi: stakingAbi, functionName: "tool", args: [id] }) as const),
          ...MULTICALL,
        });
        const required = await client.multicall({
          contracts: tools.map(
            ({ price }) =>
              ({ address, abi: stakingAbi, functionName: "requiredStake", args: [BigInt(price)] }) as const,
          ),
          ...MULTICALL,
        });
        for (const [i, tool] of tools.entries()) found.push(listingOf(tool, required[i]));
      }
      return found;
    },
  });
}

type ListingRead = {
  owner: Address;
  payout: Address;
  price: number | bigint;
  stake: number | bigint;
  withdrawing: number | bigint;
};

function listingOf(tool: ListingRead, required: bigint | undefined): ToolListing | null {
  if (tool.owner === zeroAddress) return null;
  return {
    owner: tool.owner,
    payee: tool.payout,
    price: microUsdc(BigInt(tool.price)),
    stake: microUsdc(BigInt(tool.stake)),
    requiredStake: microUsdc(required ?? 0n),
    withdrawing: microUsdc(BigInt(tool.withdrawing)),
  };
}
