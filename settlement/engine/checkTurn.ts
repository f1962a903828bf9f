import { isAddress, isHex } from "viem";
import { SettlementError } from "../domain/errors.ts";
import { MAX_AMOUNT } from "../domain/money.ts";
import { MAX_CALLS_PER_TURN, type Turn } from "../domain/turn.ts";

const MAX_ID_LENGTH = 128;

// Refuses a turn that makes no sense, with the name of the field, before anything is written.
export function checkTurn(turn: Turn): void {
  const refuse = (field: string, problem: string): never => {
    throw new SettlementError("invalid_input", `${field} ${problem}`);
  };
  if (turn.id.length === 0 || turn.id.length > MAX_ID_LENGTH)
    refuse("id", `has to have 1 to ${MAX_ID_LENGTH} characters`);
  if (!isAddress(turn.payer, { strict: false })) refuse("payer", `${turn.payer} is not an address`);
  if (turn.modelCost < 0n || turn.modelCost > MAX_AMOUNT) refuse("modelCost", `${turn.modelCost} is out of range`);
  for (const field of ["requestHash", "responseHash"] as const) {
    if (!isHex(turn[field]) || turn[field].length !== 66) refuse(field, "has to be 32 bytes in hex");
  }
  const seen = new Set<string>();
  let calls = 0;
  for (const [i, tool] of turn.tools.entries()) {
    if (seen.has(tool.toolId)) refuse(`tools[${i}].toolId`, `${tool.toolId} is named twice; add its amounts up`);
    seen.add(tool.toolId);
    if (tool.amount < 0n || tool.amount > MAX_AMOUNT) refuse(`tools[${i}].amount`, `${tool.amount} is out of range`);
    if (!Number.isInteger(tool.calls) || tool.calls < 1) refuse(`tools[${i}].calls`, "has to be 1 or more");
    calls += tool.calls;
  }
  if (calls > MAX_CALLS_PER_TURN) refuse("tools", `make ${calls} calls; a turn makes at most ${MAX_CALLS_PER_TURN}`);
}
