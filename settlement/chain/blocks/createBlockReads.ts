import { type GetBlockReturnType, type Hex, numberToHex, type PublicClient } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import type { Block, Chain } from "../chain.ts";
import { settlementErrorIn } from "../rpc/answered.ts";
import { createRpcClient } from "../rpc/createRpcClient.ts";
import type { Endpoints } from "../rpc/endpoints.ts";
import type { Ranking } from "../rpc/rankHeads.ts";

export type BlockReadsOptions = {
  endpoints: Endpoints;
  client: PublicClient;
  // For nodes that do not know the `finalized` tag: blocks this deep are taken for final instead.
  finalityDepthBlocks: bigint | undefined;
  maxTransactionGas: bigint;
  // What several endpoints say of the chain, compared; null where there is nothing to compare.
  survey: () => Promise<Ranking | null>;
};

export type BlockReads = Pick<Chain, "head" | "finalized" | "blockHash">;

export function createBlockReads(options: BlockReadsOptions): BlockReads {
  const { endpoints, client, finalityDepthBlocks, maxTransactionGas, survey } = options;
  const finalizedBlock = async () => {
    if (finalityDepthBlocks === undefined) return { blockTag: "finalized" } as const;
    const head = await client.getBlockNumber();
    return { blockNumber: head > finalityDepthBlocks ? head - finalityDepthBlocks : 0n };
  };

  return {
    async head() {
      await survey();
      const block = await client.getBlock();
      const { baseFeePerGas, gasLimit } = block;
      const fits = maxTransactionGas <= gasLimit;
      return { ...datedOf(block), baseFeePerGas: baseFeePerGas ?? 0n, maxGas: fits ? maxTransactionGas : gasLimit };
    },

    async finalized() {
      const compared = await survey();
      if (compared !== null) {
        if ("number" in compared.finalized) return compared.finalized;
        throw new SettlementError("chain_unavailable", `no block can be called final: ${compared.finalized.unknown}`, {
          retryable: true,
        });
      }
      const at = await finalizedBlock();
      try {
        return datedOf(await client.getBlock(at));
      } catch (error) {
        if (finalityDepthBlocks !== undefined || settlementErrorIn(error)) throw error;
        throw new SettlementError(
          "chain_unavailable",
          "the endpoints do not say which block is final; use one that knows the `finalized` tag, " +
            "or set a depth from which blocks are taken for final",
          { retryable: true, cause: error },
        );
      }
    },

    async blockHash(number, below) {
      if (below === undefined) return hashAt(client, number);
      return endpoints.fromOne(async (read) => {
        const one = createRpcClient({ read });
        if ((await hashAt(one, below.number)) === below.hash) return hashAt(one, number);
        throw new SettlementError("chain_unavailable", `no endpoint has block ${below.number} as ${below.hash}`, {
          retryable: true,
        });
      });
    },
  };
}

function datedOf(block: GetBlockReturnType): Block {
  return { number: block.number, hash: block.hash, timestampMs: Number(block.timestamp) * 1_000 };
}

async function hashAt(client: PublicClient, number: bigint): Promise<Hex | null> {
  const block = await client.request({ method: "eth_getBlockByNumber", params: [numberToHex(number), false] });
  return block?.hash ?? null;
}

// A block by its hash, as EIP-1898 has it: whoever does not have this very block cannot answer.
export const byHash = ({ hash }: Pick<Block, "hash">) => ({ blockHash: hash });
