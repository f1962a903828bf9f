import { type Address, createPublicClient, custom } from "viem";
import { routerAbi } from "./abi.ts";
import { EndpointFailure, JsonRpcError, postJsonRpc } from "./jsonRpc.ts";

export type ChainInspection = {
  // One entry per endpoint, in the order of the addresses.
  chainIds(): Promise<({ kind: "chain"; chainId: number } | { kind: "failure"; reason: string })[]>;
  // What an operator may settle in 24 hours, and how much of that is left; zero for who is no operator.
  operatorLimit(operator: Address): Promise<{ limit: bigint; left: bigint }>;
};

const TIMEOUT_MS = 5_000;

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
