import type { Address } from "viem";
import { text } from "../../settlement/ledger/database/decode.ts";
import type { Reader } from "../../settlement/ledger/database/sql.ts";
import { PROVEN } from "./listing.ts";
import { serverOf } from "./serverOf.ts";
import { shapeOf } from "./shapeOf.ts";

// The tool as which somebody else offers an address already, with a stake that it would lose. Null if nobody does.
export async function findRival(sql: Reader, endpoint: string, owner: Address): Promise<string | null> {
  const [row] = await sql.all(
    `SELECT tool_id FROM listings WHERE server = $1 AND owner <> $2 AND status = 'active' AND stake >= required_stake
     ORDER BY registered_at LIMIT 1`,
    [serverOf(endpoint), owner],
  );
  return row === undefined ? null : text(row, "tool_id");
}

// A proven tool of somebody else's that the name would be taken for. Names of others may be chosen again: nobody keeps a word for
// himself by listing a tool under it.
export async function findNamesake(sql: Reader, name: string, owner: Address): Promise<string | null> {
  const rows = await sql.all(
    "SELECT tool_id, name FROM listings WHERE paid_calls >= $1 AND payers >= $2 AND owner <> $3 AND stake >= required_stake",
    [PROVEN.calls, PROVEN.payers, owner],
  );
  const shape = shapeOf(name);
  const namesake = rows.find((row) => shapeOf(text(row, "name")) === shape);
  return namesake === undefined ? null : text(namesake, "tool_id");
}
