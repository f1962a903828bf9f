import type { Address } from "viem";
import { text } from "../../settlement/ledger/database/decode.ts";
import type { Reader } from "../../settlement/ledger/database/sql.ts";
import { serverOf } from "./serverOf.ts";

// The tool as which somebody else offers an address already, with a stake that it would lose. Null if nobody does.
export async function findRival(sql: Reader, endpoint: string, owner: Address): Promise<string | null> {
  const [row] = await sql.all(
    `SELECT tool_id FROM listings WHERE server = $1 AND owner <> $2 AND status = 'active' AND stake >= required_stake
     ORDER BY registered_at LIMIT 1`,
    [serverOf(endpoint), owner],
  );
  return row === undefined ? null : text(row, "tool_id");
}
