import type { ToolId } from "../../domain/toolId.ts";
import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validName, validTime, validToolId } from "../validate.ts";

// The chain knows a tool by its id alone. What people call it is the platform's word, and the newest one counts.
export function nameTool(toolId: ToolId, name: string, nowMs: number) {
  const id = validToolId(toolId);
  validName("the tool's name", name);
  validTime("now", nowMs);
  return touching({ lock: "tool_names", name: id }, async (tx: Tx): Promise<void> => {
    await tx.run(
      `INSERT INTO tool_names (tool_id, name, named_at) VALUES ($1, $2, $3)
       ON CONFLICT (tool_id) DO UPDATE SET name = excluded.name, named_at = excluded.named_at`,
      [id, name, nowMs],
    );
  });
}
