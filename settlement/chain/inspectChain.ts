import { type Address, createPublicClient, custom, zeroAddress } from "viem";
import { SettlementError } from "../domain/errors.ts";
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
    operatorLimit: (operator) =>
      answered(async () => {
        const [limit, left] = await client.readContract({
          address: router,
          abi: routerAbi,
          functionName: "operatorLimit",
          args: [operator],
        });
        return { limit, left };
      }),
    tools: (toolIds) =>
      answered(async () => {
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
      }),
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

// Whoever asks is told that it is worth asking again.
async function answered<T>(question: () => Promise<T>): Promise<T> {
  try {
    return await question();
  } catch (cause) {
    const why = cause instanceof Error && "shortMessage" in cause ? String(cause.shortMessage) : String(cause);
    throw new SettlementError("chain_unavailable", `the chain gave no usable answer: ${why}`, {
      retryable: true,
      cause,
    });
  }
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
