import { type Address, createPublicClient, custom, type Hex, numberToHex, zeroAddress } from "viem";
import { type MicroUsdc, microUsdc } from "../domain/money.ts";
import type { ToolId } from "../domain/toolId.ts";
import { routerAbi, stakingAbi } from "./abi.ts";
import { EndpointFailure, JsonRpcError, postJsonRpc } from "./jsonRpc.ts";

export type ChainInspection = {
  // One entry per endpoint, in the order of the addresses.
  chainIds(): Promise<({ kind: "chain"; chainId: number } | { kind: "failure"; reason: string })[]>;
  // What an operator may settle in 24 hours, and how much of that is left; zero for who is no operator.
  operatorLimit(operator: Address): Promise<{ limit: bigint; left: bigint }>;
  // What the registry says about tools, in the order asked; null for one that is not listed.
  tools(toolIds: readonly ToolId[]): Promise<(ToolListing | null)[]>;
  // The code behind the token, which its owner can exchange; null if the token is no proxy of a known kind.
  usdcImplementation(): Promise<Address | null>;
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

const TIMEOUT_MS = 5_000;
// So many fit into the code of a read that brings its own multicall along, which a chain limits to 48 KiB.
const TOOLS_PER_READ = 100;
// Whatever the size, and without a multicall contract on the chain.
const ONE_READ = { allowFailure: false, batchSize: 0, deployless: true } as const;

// Where Circle's proxy, which is older than EIP-1967, keeps its implementation, and where newer proxies do.
const IMPLEMENTATION_SLOTS: readonly Hex[] = [
  "0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3",
  "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc",
];

// Questions that a person asks and the engine does not.
export function inspectChain({ rpcUrls, router }: { rpcUrls: readonly string[]; router: Address }): ChainInspection {
  let lastId = 0;
  const ask = (url: string, method: string, params: readonly unknown[]) => {
    lastId += 1;
    return postJsonRpc({ url, id: lastId, method, params, timeoutMs: TIMEOUT_MS });
  };
  const client = createPublicClient({
    transport: custom({ request: ({ method, params }) => firstOf(rpcUrls, (url) => ask(url, method, params ?? [])) }),
  });

  return {
    chainIds: () =>
      Promise.all(
        rpcUrls.map(async (url) => {
          try {
            return { kind: "chain" as const, chainId: Number(await ask(url, "eth_chainId", [])) };
          } catch (error) {
            return { kind: "failure" as const, reason: error instanceof Error ? error.message : "no answer" };
          }
        }),
      ),
    async operatorLimit(operator) {
      const [limit, left] = await client.readContract({
        address: router,
        abi: routerAbi,
        functionName: "operatorLimit",
        args: [operator],
      });
      return { limit, left };
    },
    async tools(toolIds) {
      const address = await client.readContract({ address: router, abi: routerAbi, functionName: "staking" });
      const found: (ToolListing | null)[] = [];
      for (let start = 0; start < toolIds.length; start += TOOLS_PER_READ) {
        const some = toolIds.slice(start, start + TOOLS_PER_READ);
        const tools = await client.multicall({
          contracts: some.map((id) => ({ address, abi: stakingAbi, functionName: "tool", args: [id] }) as const),
          ...ONE_READ,
        });
        const required = await client.multicall({
          contracts: tools.map(
            ({ price }) =>
              ({ address, abi: stakingAbi, functionName: "requiredStake", args: [BigInt(price)] }) as const,
          ),
          ...ONE_READ,
        });
        for (const [i, tool] of tools.entries()) found.push(listingOf(tool, required[i]));
      }
      return found;
    },
    async usdcImplementation() {
      const usdc = await client.readContract({ address: router, abi: routerAbi, functionName: "usdc" });
      for (const slot of IMPLEMENTATION_SLOTS) {
        const word = BigInt((await client.getStorageAt({ address: usdc, slot })) ?? 0);
        if (word !== 0n) return numberToHex(word, { size: 20 });
      }
      return null;
    },
  };
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

async function firstOf<T>(urls: readonly string[], ask: (url: string) => Promise<T>): Promise<T> {
  let last: unknown;
  for (const url of urls) {
    try {
      return await ask(url);
    } catch (error) {
      if (!(error instanceof EndpointFailure || error instanceof JsonRpcError)) throw error;
      last = error;
    }
  }
  throw last;
}
