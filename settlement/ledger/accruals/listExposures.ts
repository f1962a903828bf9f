import type { Exposure } from "../../domain/payer/payer.ts";
import type { Reader } from "../database/sql.ts";
import { validCount } from "../validate.ts";
import { exposureFrom } from "./decode.ts";

// Of everybody: debts first, then what is pending, owed included.
export function listExposures(limit: number, offset: number) {
  const page = [validCount("the limit", limit), validCount("the offset", offset)];
  return async (sql: Reader): Promise<Exposure[]> => {
    const rows = await sql.all("SELECT * FROM payers ORDER BY debt DESC, pending DESC, payer LIMIT $1 OFFSET $2", page);
    return rows.map(exposureFrom);
  };
}
