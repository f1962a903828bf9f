import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import { byHash } from "../blocks/createBlockReads.ts";
import type { Block, Chain } from "../chain.ts";
import { receiptCourtAbi } from "../router/abi.ts";
import type { Endpoints } from "../rpc/endpoints.ts";

export type CourtReads = Pick<Chain, "contestOf" | "progressOf">;

const STAGES = ["none", "contested", "answered", "refunded"] as const;

// What became of rows that were contested.
export function createCourtReads({ endpoints, court }: { endpoints: Endpoints; court: Address | null }): CourtReads {
  // At a block that is named by its hash: an endpoint that has another one in its place does not answer for it.
  async function call(data: Hex, at: Block): Promise<Hex> {
    if (court === null) throw new SettlementError("invalid_input", "the router has no court of receipts");
    return (await endpoints.read("eth_call", [{ to: court, data }, byHash(at)])) as Hex;
  }

  return {
    async contestOf(batchId, account, at) {
      const contestOf = { abi: receiptCourtAbi, functionName: "contestOf" } as const;
      const data = await call(encodeFunctionData({ ...contestOf, args: [batchId, account] }), at);
      const { stage, until } = decodeFunctionResult({ ...contestOf, data });
      return { stage: STAGES[stage] ?? "none", untilMs: until * 1_000 };
    },

    async progressOf(batchId, account, answerer, at) {
      const progressOf = { abi: receiptCourtAbi, functionName: "progressOf" } as const;
      const data = await call(encodeFunctionData({ ...progressOf, args: [batchId, account, answerer] }), at);
      return decodeFunctionResult({ ...progressOf, data });
    },
  };
}
