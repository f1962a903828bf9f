import type { ToolId } from "../../domain/toolId.ts";
import { hex, text } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import { validCount } from "../validate.ts";

export type NamedTool = { toolId: ToolId; name: string };

export function listToolNames(limit: number) {
  validCount("the limit", limit);
  return async (sql: Reader): Promise<NamedTool[]> => {
    const rows = await sql.all("SELECT tool_id, name FROM tool_names ORDER BY name, tool_id LIMIT $1", [limit]);
    return rows.map((row) => ({ toolId: hex(row, "tool_id") as ToolId, name: text(row, "name") }));
  };
}
