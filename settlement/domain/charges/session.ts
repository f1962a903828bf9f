import type { Address, Hex } from "viem";
import type { MicroUsdc } from "../money.ts";
import type { ToolId } from "../toolId.ts";
import type { ContentHashes } from "./charge.ts";

export type SessionStatus = "open" | "closed" | "expired";

// An Execute session. At all times spent + held <= maxSpend.
export type Session = {
  id: string;
  payer: Address;
  // The payer's budget that its calls draw on, unless they bring another one.
  budgetId: bigint | null;
  maxSpend: MicroUsdc;
  spent: MicroUsdc;
  held: MicroUsdc;
  status: SessionStatus;
  closeRequested: boolean;
  openedAtMs: number;
  expiresAtMs: number;
  // The price of the method that was called last; null before the first call.
  methodPrice: MicroUsdc | null;
  // What was captured since the last flush to settlement.
  pendingAccruedCount: number;
  pendingAccrued: MicroUsdc;
};

// The status as of a moment. Time ends a session by itself; that the ledger notes it at its next sweep is its own business.
export function statusAt(
  { status, expiresAtMs }: Pick<Session, "status" | "expiresAtMs">,
  nowMs: number,
): SessionStatus {
  return status === "open" && expiresAtMs <= nowMs ? "expired" : status;
}

// A call of a tool, as whoever makes it names and prices it.
export type Call = {
  callId: string;
  sessionId: string;
  toolId: ToolId;
  method: string;
  amount: MicroUsdc;
  // The payer's budget that it draws on, if that is not the session's.
  budgetId?: bigint | null;
};

// A call's price, reserved before the call runs.
export type Hold = Call & {
  payer: Address;
  budgetId: bigint | null;
  heldAtMs: number;
  state: { kind: "held" } | { kind: "captured"; chargeId: Hex } | { kind: "voided" };
};

export type Capture = { callId: string; hashes: ContentHashes };
