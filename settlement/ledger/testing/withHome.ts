import type { Database } from "../database/sql.ts";

// A database that is where the test says.
export function withHome(database: Database, home: () => string): Database {
  return {
    ...database,
    transaction: (work, options) =>
      database.transaction((sql, attempt) => work({ ...sql, home: `'${home()}'` }, attempt), options),
  };
}
