import type { Address } from "viem";
import type { ToolId } from "../../../domain/toolId.ts";
import { text } from "../../database/decode.ts";
import { chunksOf, placeholders, type Reader } from "../../database/sql.ts";
import { validAddress } from "../../validate.ts";

// The tools for which charges of these accounts have failed before: whether the platform absorbs the next failure is asked of
// their stakes.
export function listFailedTools(accounts: readonly Address[]) {
  const asked = accounts.map((account) => validAddress("the account", account));
  return async (sql: Reader): Promise<ToolId[]> => {
    const tools = new Set<ToolId>();
    for (const chunk of chunksOf(asked)) {
      const rows = await sql.all(
        `SELECT DISTINCT tool_id FROM charges
         WHERE state = 'accrued' AND attempts > 0 AND charged_to IN (${placeholders(chunk.length)}) AND tool_id IS NOT NULL`,
        chunk,
      );
      for (const row of rows) tools.add(text(row, "tool_id") as ToolId);
    }
    return [...tools].sort();
  };
}
