import type { LocalWorld } from "../../../scripts/world/startWorld.ts";
import type { RpcAnswer, RpcProxy, RpcRequest } from "./rpcProxy.ts";

// From now on the endpoint answers as if no block had been made after this one: heads, states, receipts and logs. Returns
// what lets it go on.
export async function stallEndpoint(endpoint: RpcProxy, { rpc }: Pick<LocalWorld, "rpc">): Promise<() => void> {
  const [latest, finalized] = (await Promise.all(
    ["latest", "finalized"].map((tag) => rpc("eth_getBlockByNumber", [tag, false])),
  )) as { number: string }[];
  const tags = new Map([
    ["latest", latest?.number],
    ["pending", latest?.number],
    ["finalized", finalized?.number],
  ]);
  const last = Number(latest?.number);

  async function answer(real: RpcAnswer, { method, params }: RpcRequest): Promise<RpcAnswer> {
    // What it is sent it passes on.
    if (method === "eth_sendRawTransaction" || method === "eth_chainId") return real;
    if (/^eth_get(TransactionReceipt|BlockBy(Number|Hash))$/.test(method)) {
      const asked = method === "eth_getBlockByNumber" ? await rpc(method, params.map(frozen)) : real.result;
      const { blockNumber, number } = (asked ?? {}) as { blockNumber?: string; number?: string };
      return { ...real, result: Number(blockNumber ?? number) > last ? null : asked };
    }
    if (method === "eth_blockNumber") return { ...real, result: latest?.number };
    if (method === "eth_getLogs") {
      const [{ fromBlock, toBlock, ...filter }] = params as [{ fromBlock: string; toBlock: string }];
      if (Number(fromBlock) > last) return { ...real, result: [] };
      const to = Number(toBlock) > last ? latest?.number : toBlock;
      return { ...real, result: await rpc(method, [{ ...filter, fromBlock, toBlock: to }]) };
    }
    if (real.error !== undefined) return real;
    if (await isAheadOf(params))
      return { ...real, result: undefined, error: { code: -32_000, message: "header not found" } };
    return { ...real, result: await rpc(method, params.map(frozen)) };
  }
  // A state of a block that it does not have, by the block's hash.
  async function isAheadOf(params: readonly unknown[]): Promise<boolean> {
    const { blockHash } = (params.at(-1) ?? {}) as { blockHash?: string };
    if (blockHash === undefined) return false;
    const block = (await rpc("eth_getBlockByHash", [blockHash, false])) as { number: string } | null;
    return block !== null && Number(block.number) > last;
  }
  const frozen = (param: unknown) => (typeof param === "string" ? (tags.get(param) ?? param) : param);

  return endpoint.rule({ method: null, action: { kind: "exchange", answer } });
}
