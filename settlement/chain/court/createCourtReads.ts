import { type Address, decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import { byHash } from "../blocks/createBlockReads.ts";
import type { Chain } from "../chain.ts";
import { receiptCourtAbi } from "../router/abi.ts";
import type { Endpoints } from "../rpc/endpoints.ts";

export type CourtReads = Pick<Chain, "contestOf">;

const STAGES = ["none", "contested", "answered", "refunded"] as const;

// What became of rows that were contested.
export function createCourtReads({ endpoints, court }: { endpoints: Endpoints; court: Address | null }): CourtReads {
  return {
    // At a block that is named by its hash: an endpoint that has another one in its place does not answer for it.
    async contestOf(root, account, at) {
      if (court === null) throw new SettlementError("invalid_input", "the router has no court of receipts");
      const contestOf = { abi: receiptCourtAbi, functionName: "contestOf" } as const;
      const data = encodeFunctionData({ ...contestOf, args: [root, account] });
      const result = (await endpoints.read("eth_call", [{ to: court, data }, byHash(at)])) as Hex;
      const { stage, until, open } = decodeFunctionResult({ ...contestOf, data: result });
      return { stage: STAGES[stage] ?? "none", untilMs: until * 1_000, open };
    },
  };
}
