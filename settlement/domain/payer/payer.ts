import type { Address } from "viem";
import type { MicroUsdc } from "../money.ts";
import type { BudgetOnChain } from "./budget.ts";

// What the ledger knows of a payer that the chain does not know yet.
export type Exposure = {
  payer: Address;
  // Accrued and not yet taken on chain.
  pending: MicroUsdc;
  // Reserved by calls and questions that are running.
  held: MicroUsdc;
  // What of pending the platform does not take over: a debt to the developers of tools, collected as soon as it can be.
  owed: MicroUsdc;
  // Absorbed by the platform and not yet repaid.
  debt: MicroUsdc;
  // Paid for good.
  settled: MicroUsdc;
  // The newest block in which something was taken that is no longer pending. What the chain said before that is outdated.
  takenAtBlock: bigint;
};

// What the chain said that a payer can spend, how much it has prepaid, and of the budget that is drawn on, and at which block.
export type ReadFunds = { amount: bigint; prepaid?: bigint; atBlock: bigint; budget?: BudgetOnChain | null };
