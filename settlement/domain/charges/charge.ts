import { hash } from "node:crypto";
import type { Address, Hex } from "viem";
import type { MicroUsdc } from "../money.ts";
import type { ToolId } from "../toolId.ts";
import type { Call } from "./session.ts";

// What a charge is for: a tool that was used, or the model that was run.
export type ChargeFor = { kind: "tool"; toolId: ToolId; calls: number } | { kind: "model" };

// Where a charge comes from. A turn has one charge per tool and one for its model; a call is one charge.
export type ChargeSource = { kind: "turn"; turnId: string } | { kind: "call"; sessionId: string; callId: string };

// Hashes of what was asked, answered and promised; zero where unknown. They are part of the receipt.
export type ContentHashes = { request: Hex; response: Hex; schema: Hex };

export const NO_HASH: Hex = `0x${"0".repeat(64)}`;
export const NO_HASHES: ContentHashes = { request: NO_HASH, response: NO_HASH, schema: NO_HASH };

// The life of a charge; docs/engine.md has the table of who moves it and when. `batched`, `submitted` and `included` are
// one state in the ledger, told apart by the batch that the charge is in.
export type ChargeState =
  | { kind: "accrued"; dueAtMs: number }
  // The payer could not pay, and the platform does not: it waits until the payer can.
  | { kind: "owed"; dueAtMs: number }
  | { kind: "batched"; batchId: Hex }
  | { kind: "submitted"; batchId: Hex }
  | { kind: "included"; batchId: Hex }
  | { kind: "final"; batchId: Hex }
  | { kind: "absorbed"; batchId: Hex }
  | { kind: "refused"; batchId: Hex }
  | { kind: "voided" };

export type Charge = {
  id: Hex;
  source: ChargeSource;
  for: ChargeFor;
  // Who owes it.
  payer: Address;
  // The payer's budget that it draws on, while the payer is charged for it.
  budgetId: bigint | null;
  // Who is charged for it: the payer, or the insurance account once the platform absorbs it.
  chargedTo: Address;
  amount: MicroUsdc;
  hashes: ContentHashes;
  accruedAtMs: number;
  // How many times it was tried in vain: because the payer could not pay or, `deferrals` of them, because its tool may not earn
  // more in a day.
  attempts: number;
  deferrals: number;
  state: ChargeState;
};

// A charge as netting sees it.
export type DueCharge = Pick<
  Charge,
  "id" | "for" | "payer" | "budgetId" | "chargedTo" | "amount" | "hashes" | "accruedAtMs" | "attempts"
>;

// A charge is named after what it is for, so that the same delivery is the same charge however often it is reported.
export function chargeIdOf(source: ChargeSource, chargeFor: ChargeFor): Hex {
  const origin = source.kind === "turn" ? ["turn", source.turnId] : ["call", source.callId];
  const subject = chargeFor.kind === "tool" ? chargeFor.toolId : "model";
  return `0x${hash("sha256", JSON.stringify([...origin, subject]))}`;
}

export function chargeIdOfCall({ callId, sessionId, toolId }: Pick<Call, "callId" | "sessionId" | "toolId">): Hex {
  return chargeIdOf({ kind: "call", sessionId, callId }, { kind: "tool", toolId, calls: 1 });
}

// What was paid of a charge that was divided, by what was left of that, which only ever becomes less: the rest goes on under its name.
export function partIdOf(id: Hex, left: bigint): Hex {
  return `0x${hash("sha256", JSON.stringify(["part", id, left.toString()]))}`;
}
