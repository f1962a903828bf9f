import { SettlementError } from "../../../settlement/domain/errors.ts";
import type { Database } from "../../../settlement/ledger/database/sql.ts";
import type { Faults } from "./faults.ts";

// A database that goes away: before a transaction, in the middle of one, or right after its commit, when the caller
// cannot know. Work that may be repeated is, as the driver for PostgreSQL does it.
export function createFaultyDatabase(database: Database, faults: Faults): Database {
  return {
    ...database,
    async transaction(work, options) {
      if (faults.strike("the ledger is gone before a transaction", 0.01)) throw gone();
      const result = await database.transaction(async (sql, attempt) => {
        const answer = await work(sql, attempt);
        if (faults.strike("the ledger is gone before a commit", 0.01)) throw gone();
        return answer;
      }, options);
      if (!faults.strike("the ledger is gone after a commit", 0.01)) return result;
      if (!options.repeatable) throw gone();
      return database.transaction((sql) => work(sql, { mayHaveCommitted: true }), options);
    },
    read: {
      takesArrays: database.read.takesArrays,
      all(text, params) {
        if (faults.strike("the ledger cannot be read", 0.003)) throw gone();
        return database.read.all(text, params);
      },
    },
  };
}

const gone = () => new SettlementError("ledger_unavailable", "the ledger is gone", { retryable: true });
