import type { Address, Hex } from "viem";
import type { DueCharge } from "../charges/charge.ts";
import type { MicroUsdc } from "../money.ts";
import type { KnownBudget } from "../payer/budget.ts";
import type { ToolId } from "../toolId.ts";

// What the router charges to one account, in its words: for the model, and for each tool a line that names it by its place in
// the list of tools that goes with the rows. It comes out of the account's wallet or its prepaid balance, and out of a budget
// if the account has signed one.
export type BatchRow = {
  payer: Address;
  modelCost: bigint;
  lines: readonly BatchLine[];
  prepaid?: boolean;
  budget?: RowBudget;
};
export type BatchLine = { toolIndex: number; amount: bigint };

// The budget that a row draws on. `tools` are those that it is good for, none for all of them; `signed` is what the payer has
// signed last, for a budget that the chain does not know yet, or not with so high a limit.
export type RowBudget = {
  id: bigint;
  tools?: readonly ToolId[];
  signed?: { maxSpend: bigint; validUntil: bigint; signature: Hex };
};

// A batch's id is the root of its receipts. Its rows never change: whatever becomes of its transaction, the same id always
// means the same charges.
export type Batch = {
  batchId: Hex;
  rows: readonly BatchRow[];
  receipts: readonly { chargeId: Hex; chargedTo: Address; leaf: Hex }[];
  total: MicroUsdc;
  calldata: Hex;
};

// Why a row was not charged, as the router reports it, in the order of IContextRouter.ChargeFailure, whose first is none.
export const CHARGE_FAILURES = [
  "daily_cap",
  "blacklisted",
  "allowance",
  "balance",
  "prepaid",
  "consent_required",
  "budget_forged",
  "budget_exceeded",
  "budget_expired",
  "budget_tools",
] as const;
export type ChargeFailure = (typeof CHARGE_FAILURES)[number];

// Why a tool was not paid, as the router reports it, in the order of IContextRouter.Refusal.
export const TOOL_REFUSALS = ["unlisted", "under_staked", "earning_cap"] as const;
export type ToolRefusal = (typeof TOOL_REFUSALS)[number];

// What became of a settled batch, read from the logs of its transaction.
export type BatchOutcome = {
  charged: MicroUsdc;
  treasuryShare: MicroUsdc;
  failed: readonly { chargedTo: Address; amount: MicroUsdc; reason: ChargeFailure }[];
  refused: readonly { chargedTo: Address; toolId: ToolId; amount: MicroUsdc; reason: ToolRefusal }[];
  paid: readonly { toolId: ToolId; payee: Address; amount: MicroUsdc; developerShare: MicroUsdc }[];
};

// How much fits into one batch.
export type BatchBounds = { maxRows: number; maxLines: number; maxCharges: number };

// What the operator may settle in 24 hours, and what is left of that for this batch.
export type OperatorRoom = { limit: bigint; room: bigint };

// What netting makes of the charges that are due.
export type NetResult = {
  batch: Batch | null;
  // Charges that the payer cannot pay at present, with the reason.
  unpayable: readonly { chargeId: Hex; reason: ChargeFailure }[];
  // The first charge that waits for the operator's limit to have room again. Nothing that is due later is taken before it,
  // or a large charge might wait for as long as there are small ones.
  waiting: DueCharge | null;
  // Charges above the whole limit, which wait until the limit is raised.
  aboveLimit: readonly DueCharge[];
};

type Netted = Pick<NetResult, "batch" | "unpayable">;

// It may take its time, and let others run in between. The budgets are those that the charges draw on, by `budgetName`, as they are
// when the charges are taken.
export type Net = (
  charges: readonly DueCharge[],
  budgets: ReadonlyMap<string, KnownBudget>,
) => Netted | Promise<Netted>;
