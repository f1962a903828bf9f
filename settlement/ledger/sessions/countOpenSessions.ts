import type { Address } from "viem";
import { count } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import { validAddress, validCount, validTime } from "../validate.ts";
import { isOpenAt } from "./expiry.ts";

// Of one payer; no more are counted than `limit`.
export function countOpenSessions(payer: Address, nowMs: number, limit: number) {
  const params = [validAddress("the payer", payer), validTime("now", nowMs), validCount("the limit", limit)];
  return async (sql: Reader): Promise<number> => {
    const [row] = await sql.all(
      `SELECT COUNT(*) AS sessions FROM
         (SELECT 1 FROM sessions WHERE payer = $1 AND ${isOpenAt("$2")} LIMIT $3) AS counted`,
      params,
    );
    return count(row ?? {}, "sessions");
  };
}
