import type { Address, Hex } from "viem";
import type { DueCharge } from "./charge.ts";
import type { MicroUsdc } from "./money.ts";
import type { ToolId } from "./toolId.ts";

// What is charged to one account in one batch.
export type BatchRow = {
  chargedTo: Address;
  modelCost: MicroUsdc;
  lines: readonly { toolId: ToolId; amount: MicroUsdc }[];
  total: MicroUsdc;
};

// A batch is named by the root of its receipts. Its rows never change: whatever becomes of its transaction, the same
// root always means the same charges.
export type Batch = {
  root: Hex;
  toolIds: readonly ToolId[];
  rows: readonly BatchRow[];
  receipts: readonly { chargeId: Hex; chargedTo: Address; leaf: Hex }[];
  total: MicroUsdc;
  calldata: Hex;
};

// Why a row was not charged, as the router reports it.
export type ChargeFailure = "daily_cap" | "blacklisted" | "allowance" | "balance";

// What became of a settled batch, read from the logs of its transaction.
export type BatchOutcome = {
  charged: MicroUsdc;
  treasuryShare: MicroUsdc;
  failed: readonly { chargedTo: Address; amount: MicroUsdc; reason: ChargeFailure }[];
  refused: readonly { chargedTo: Address; toolId: ToolId; amount: MicroUsdc }[];
  paid: readonly { toolId: ToolId; payee: Address; amount: MicroUsdc; developerShare: MicroUsdc }[];
};

// How much fits into one batch.
export type BatchBounds = { maxRows: number; maxLines: number; maxCharges: number };

// What netting makes of the charges that are due.
export type NetResult = {
  batch: Batch | null;
  // Charges that the payer cannot pay at present, with the reason.
  unpayable: readonly { chargeId: Hex; reason: ChargeFailure }[];
};

export type Net = (charges: readonly DueCharge[]) => NetResult;
