import { copyFileSync, existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { Database } from "../../../settlement/ledger/database/sql.ts";
import { openSqlite } from "../../../settlement/ledger/database/sqlite/openSqlite.ts";
import { withHome } from "../../../settlement/ledger/testing/withHome.ts";

export type Copy = { path: string };

// A ledger that can be taken back to an earlier moment of itself: what a restored copy does to daemons that were stopped
// for it, and a failover that lost the last commits to daemons that were not.
export function openRestorable(folder: string) {
  let files = 0;
  const fresh = () => join(folder, `ledger ${files++}`);
  let path = fresh();
  let home = basename(path);
  let current = openSqlite({ path });
  const opened: Database = {
    transaction: (work, options) => current.transaction(work, options),
    migration: (work) => current.migration(work),
    snapshot: (work) => current.snapshot(work),
    writers: 1,
    read: { takesArrays: false, all: (text, params) => current.read.all(text, params) },
    close: () => current.close(),
  };
  return {
    database: withHome(opened, () => home),
    // Only between two transactions.
    copy(): Copy {
      const copy = { path: fresh() };
      copyFiles(path, copy.path);
      return copy;
    },
    async restore(copy: Copy): Promise<void> {
      await current.close();
      path = fresh();
      copyFiles(copy.path, path);
      home = basename(path);
      current = openSqlite({ path });
    },
  };
}

// What was committed may still be in the log alone.
function copyFiles(from: string, to: string): void {
  for (const suffix of ["", "-wal"]) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
}
