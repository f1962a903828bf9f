import { type Address, createPublicClient, custom, type Hex, numberToHex } from "viem";
import { routerAbi } from "./abi.ts";
import { EndpointFailure, JsonRpcError, postJsonRpc } from "./jsonRpc.ts";

export type ChainInspection = {
  // One entry per endpoint, in the order of the addresses.
  chainIds(): Promise<({ kind: "chain"; chainId: number } | { kind: "failure"; reason: string })[]>;
  // What an operator may settle in 24 hours, and how much of that is left; zero for who is no operator.
  operatorLimit(operator: Address): Promise<{ limit: bigint; left: bigint }>;
  // The code behind the token, which its owner can exchange; null if the token is no proxy of a known kind.
  usdcImplementation(): Promise<Address | null>;
};

const TIMEOUT_MS = 5_000;

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
