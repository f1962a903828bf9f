import type { Address } from "viem";
import type { Session } from "../../domain/charges/session.ts";
import type { Reader } from "../database/sql.ts";
import { lower, validCount } from "../validate.ts";
import { sessionFrom } from "./decode.ts";

// Of everybody or of one payer, newest first.
export function listSessions(payer: Address | null, limit: number, offset: number) {
  const owner = payer === null ? null : lower(payer);
  const page = [validCount("the limit", limit), validCount("the offset", offset)];
  return async (sql: Reader): Promise<Session[]> => {
    const rows = await sql.all(
      `SELECT * FROM sessions ${owner === null ? "" : "WHERE payer = $3"}
       ORDER BY opened_at DESC, id DESC LIMIT $1 OFFSET $2`,
      owner === null ? page : [...page, owner],
    );
    return rows.map(sessionFrom);
  };
}
