import type { Address, Hex } from "viem";
import type { MicroUsdc } from "../money.ts";
import type { ToolId } from "../toolId.ts";

// What a payee was credited for one tool by one final batch.
export type Earning = {
  batchId: Hex;
  txHash: Hex;
  toolId: ToolId;
  payee: Address;
  amount: MicroUsdc;
  developerShare: MicroUsdc;
  settledAtMs: number;
};

// A place in a statement: what comes after this moment and id. Times repeat, ids do not.
export type Place = { atMs: number; id: string };

// From `fromMs` up to, but not including, `toMs`; oldest first.
export type StatementQuery = { fromMs: number; toMs: number; after: Place | null; limit: number };
