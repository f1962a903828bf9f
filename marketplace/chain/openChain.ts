import type { Address, PublicClient } from "viem";
import { type ChainInspection, inspectChain } from "../../settlement/chain/inspectChain.ts";
import { routerAbi } from "../../settlement/chain/router/abi.ts";
import { allAnswered } from "../../settlement/chain/rpc/answered.ts";
import { createRpcClient } from "../../settlement/chain/rpc/createRpcClient.ts";
import { createEndpoints } from "../../settlement/chain/rpc/endpoints.ts";
import { systemClock } from "../../settlement/clock.ts";
import type { VerifyContract } from "../accounts/signIn.ts";

// What the marketplace asks the chain, all of it by reading: who owns a tool and what is staked on it, and whether a
// contract stands by a signature.
export type MarketChain = {
  tools: ChainInspection["tools"];
  verifyContract: VerifyContract;
  usdc(): Promise<Address>;
  client: PublicClient;
};

// With which a signature ends that brings along what its account may have delegated (ERC-8010).
const WITH_DELEGATION = "8010".repeat(16);

const PATIENCE = { timeoutMs: 5_000, readRetries: 1 };

export function openChain(options: { chainId: number; rpcUrls: readonly string[]; router: Address }): MarketChain {
  const { chainId, rpcUrls, router } = options;
  const addresses = rpcUrls.map((url, i) => ({ name: `endpoint ${i + 1}`, url }));
  const client = createRpcClient(
    createEndpoints({ addresses, chainId, clock: systemClock, random: Math.random, ...PATIENCE }),
  );
  const { tools } = inspectChain(options);
  // An account that has delegated signs with its key, or its code says so. What viem would make of what only could be delegated is a
  // third kind of signature, which nobody was promised.
  const verifyContract: VerifyContract = async ({ address, message, signature }) =>
    !signature.endsWith(WITH_DELEGATION) && client.verifyMessage({ address, message, signature });
  const usdc = () => client.readContract({ address: router, abi: routerAbi, functionName: "usdc" });
  return { ...allAnswered({ tools, verifyContract, usdc }), client };
}
