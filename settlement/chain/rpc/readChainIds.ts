import { postJsonRpc } from "./jsonRpc.ts";

export type ChainIdAnswer = { kind: "chain"; chainId: number } | { kind: "failure"; reason: string };

const TIMEOUT_MS = 5_000;

// Which chain each endpoint says that it serves, in the order of the addresses.
export function readChainIds(rpcUrls: readonly string[]): Promise<ChainIdAnswer[]> {
  return Promise.all(
    rpcUrls.map(async (url, id): Promise<ChainIdAnswer> => {
      try {
        const answer = await postJsonRpc({ url, id, method: "eth_chainId", params: [], timeoutMs: TIMEOUT_MS });
        return { kind: "chain", chainId: Number(answer) };
      } catch (error) {
        return { kind: "failure", reason: error instanceof Error ? error.message : "no answer" };
      }
    }),
  );
}
