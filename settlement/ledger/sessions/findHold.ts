import type { Hold } from "../../domain/charges/session.ts";
import type { Reader } from "../database/sql.ts";
import { holdFrom } from "./decode.ts";

export function findHold(callId: string) {
  return (sql: Reader): Promise<Hold | null> => holdOf(sql, callId);
}

export async function holdOf(sql: Reader, callId: string): Promise<Hold | null> {
  const [row] = await sql.all("SELECT * FROM holds WHERE call_id = $1", [callId]);
  return row === undefined ? null : holdFrom(row);
}
