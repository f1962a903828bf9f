import type { Address } from "viem";
import type { Block } from "../../chain/chain.ts";
import type { EngineContext } from "../context.ts";

// A block that the chain will not undo, and how many nonces of the operator are spent by it, which every endpoint is asked for once
// in a tick.
export type Finality = { block: Block; hasSpent(nonce: number): Promise<boolean> };

export function finalityOf({ chain }: Pick<EngineContext, "chain">, operator: Address, block: Block): Finality {
  let spent: Promise<number> | undefined;
  return {
    block,
    async hasSpent(nonce) {
      spent ??= chain.nonce(operator, block);
      return (await spent) > nonce;
    },
  };
}
