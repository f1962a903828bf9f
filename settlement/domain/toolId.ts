import type { Hex } from "viem";
import { SettlementError } from "./errors.ts";
import { uuidOf } from "./text/uuid.ts";

// A tool is a UUID for people and 16 bytes on chain: the same digits with and without dashes. These two functions are
// the only place that converts.
export type ToolId = Hex & { readonly __brand: "ToolId" };

const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TOOL_ID_PATTERN = /^0x[0-9a-f]{32}$/i;

export function toolIdFromUuid(uuid: string): ToolId {
  if (!UUID_PATTERN.test(uuid)) {
    throw new SettlementError(
      "invalid_tool_id",
      `"${uuid}" is not a tool; write its UUID, like 0190a1b2-c3d4-8e5f-9a6b-7c8d9e0f1a2b`,
    );
  }
  return `0x${uuid.replaceAll("-", "").toLowerCase()}` as ToolId;
}

export function uuidFromToolId(toolId: string): string {
  if (!TOOL_ID_PATTERN.test(toolId)) {
    throw new SettlementError("invalid_tool_id", `${toolId} is not a tool id; one has 16 bytes`);
  }
  return uuidOf(toolId.slice(2).toLowerCase());
}
