import type { Address } from "viem";
import type { Exposure } from "../../domain/payer/payer.ts";
import type { Reader } from "../database/sql.ts";
import { lower, validCount } from "../validate.ts";
import { exposureFrom } from "./decode.ts";

// Payers who owe what the platform does not absorb, in the order of their addresses, from after one of them on.
export function listOwing(after: Address | null, limit: number) {
  const page = [after === null ? "" : lower(after), validCount("the limit", limit)];
  return async (sql: Reader): Promise<Exposure[]> => {
    const rows = await sql.all("SELECT * FROM payers WHERE owed > 0 AND payer > $1 ORDER BY payer LIMIT $2", page);
    return rows.map(exposureFrom);
  };
}
