import type { Address, Hex } from "viem";
import type { MicroUsdc } from "../money.ts";
import type { ToolId } from "../toolId.ts";

// The most MCP calls that one turn can make.
export const MAX_CALLS_PER_TURN = 100;

// `schemaHash` names what its methods had promised to answer, where somebody says.
export type TurnTool = { toolId: ToolId; amount: MicroUsdc; calls: number; schemaHash?: Hex };

// A Query response that was delivered. If its execution failed, the tools' fees are waived and the model cost is not.
export type Turn = {
  id: string;
  payer: Address;
  outcome: "delivered" | "failed";
  modelCost: MicroUsdc;
  tools: readonly TurnTool[];
  requestHash: Hex;
  responseHash: Hex;
  // The payer's budget that it draws on, if any.
  budgetId?: bigint | null;
};

// What a question may cost at the most, reserved before it runs, under the id that its turn will have.
export type TurnHold = {
  turnId: string;
  payer: Address;
  amount: MicroUsdc;
  // The payer's budget that its turn will draw on, if any.
  budgetId: bigint | null;
};
