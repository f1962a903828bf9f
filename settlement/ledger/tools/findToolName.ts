import type { ToolId } from "../../domain/toolId.ts";
import { text } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import { lower } from "../validate.ts";

export function findToolName(toolId: ToolId) {
  const id = lower(toolId);
  return async (sql: Reader): Promise<string | null> => {
    const [row] = await sql.all("SELECT name FROM tool_names WHERE tool_id = $1", [id]);
    return row === undefined ? null : text(row, "name");
  };
}
