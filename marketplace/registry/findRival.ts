import type { Address } from "viem";
import { text } from "../../settlement/ledger/database/decode.ts";
import type { Reader } from "../../settlement/ledger/database/sql.ts";

// The tool as which somebody else offers an address already. Null if nobody does.
export async function findRival(sql: Reader, endpoint: string, owner: Address): Promise<string | null> {
  const [row] = await sql.all(
    "SELECT tool_id FROM listings WHERE endpoint = $1 AND owner <> $2 AND status = 'active' ORDER BY registered_at LIMIT 1",
    [endpoint, owner],
  );
  return row === undefined ? null : text(row, "tool_id");
}
