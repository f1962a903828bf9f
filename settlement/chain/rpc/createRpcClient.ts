import { createPublicClient, custom, type PublicClient } from "viem";
import type { Endpoints } from "./endpoints.ts";

// viem over our endpoints. They retry by themselves, and nothing is kept: an old block number is a wrong one. A contract that reverts
// with the address of somebody to ask (ERC-3668) would have this side ask there, behind our firewall or for megabytes.
export function createRpcClient(endpoints: Pick<Endpoints, "read">): PublicClient {
  return createPublicClient({
    transport: custom({ request: ({ method, params }) => endpoints.read(method, params ?? []) }, { retryCount: 0 }),
    cacheTime: 0,
    ccipRead: false,
  });
}

// A read that brings its own multicall along needs no contract for that on the chain; `batchSize` zero makes it one read
// whatever its size. So many questions fit into its code, which a chain limits to 48 KiB.
export const MULTICALL = { allowFailure: false, batchSize: 0, deployless: true } as const;
export const QUESTIONS_PER_MULTICALL = 100;

export function* chunksOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
