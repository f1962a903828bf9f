import type { Clock } from "../../clock.ts";
import type { Database } from "../database/sql.ts";

// A database whose clock is the test's.
export function withClock(database: Database, clock: Clock): Database {
  return {
    ...database,
    transaction: (work, options) =>
      database.transaction(
        (sql, attempt) => work({ ...sql, now: String(clock.nowMs()), hasOwnClock: true }, attempt),
        options,
      ),
  };
}
