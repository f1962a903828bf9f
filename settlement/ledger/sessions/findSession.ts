import type { Session } from "../../domain/charges/session.ts";
import type { Reader } from "../database/sql.ts";
import { sessionFrom } from "./decode.ts";

// With the status that was written down last; `statusAt` knows whether its time is over since.
export function findSession(id: string) {
  return (sql: Reader): Promise<Session | null> => sessionOf(sql, id);
}

export async function sessionOf(sql: Reader, id: string): Promise<Session | null> {
  const [row] = await sql.all("SELECT * FROM sessions WHERE id = $1", [id]);
  return row === undefined ? null : sessionFrom(row);
}
