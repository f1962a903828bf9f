import type { KnownBudget } from "../../domain/payer/budget.ts";
import type { ToolId } from "../../domain/toolId.ts";
import { address, amount, hex, integer, text } from "../database/decode.ts";
import type { Row } from "../database/sql.ts";

export function budgetFrom(row: Row): KnownBudget {
  const tools = text(row, "tools");
  return {
    payer: address(row, "payer"),
    id: BigInt(text(row, "id")),
    maxSpend: amount(row, "max_spend"),
    validUntil: integer(row, "valid_until"),
    tools: tools === "" ? [] : (tools.split(" ") as ToolId[]),
    signature: hex(row, "signature"),
    held: amount(row, "held"),
    pending: amount(row, "pending"),
    taken: amount(row, "taken"),
    carried: amount(row, "carried"),
  };
}
