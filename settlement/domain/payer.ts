import type { Address } from "viem";
import type { MicroUsdc } from "./money.ts";

// What the ledger knows of a payer that the chain does not know yet.
export type Exposure = {
  payer: Address;
  // Accrued and not yet taken on chain.
  pending: MicroUsdc;
  // Reserved by calls that are running.
  held: MicroUsdc;
  // Absorbed by the platform and not yet repaid.
  debt: MicroUsdc;
  // The newest block in which something was taken that is no longer pending. What the chain said before that is outdated.
  takenAtBlock: bigint;
};
