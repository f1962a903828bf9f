import { createAccruals } from "./accruals/createAccruals.ts";
import { createArchives } from "./archive/createArchives.ts";
import { createFindArchived } from "./archive/findArchived.ts";
import type { ArchiveFolder } from "./archive/folder.ts";
import { createArchiveFiles } from "./archive/readBlock.ts";
import { withArchive } from "./archive/withArchive.ts";
import { createBudgets } from "./budgets/createBudgets.ts";
import { createCallers } from "./callers/createCallers.ts";
import { createContests } from "./contests/createContests.ts";
import { migrate } from "./database/migrate.ts";
import type { Database } from "./database/sql.ts";
import { createRunner } from "./database/transactions/createRunner.ts";
import type { Ledger } from "./ledger.ts";
import { createOperators } from "./operators/createOperators.ts";
import { createReads } from "./reads/createReads.ts";
import { createSessions } from "./sessions/createSessions.ts";
import { createSubmissions } from "./submissions/createSubmissions.ts";
import { createToken } from "./token/createToken.ts";
import { createTools } from "./tools/createTools.ts";

export type LedgerOptions = {
  // Off, every call has a commit of its own. For comparison only.
  groupCommit?: boolean;
  maxGroup?: number;
  // How many calls may wait for their commit before more are turned away.
  maxQueue?: number;
  // Which rows of running sums this process adds to. Processes that share a database should differ.
  shard?: number;
  // Where what is old goes, and is found again.
  archive?: ArchiveFolder | null;
};

// Four requests of as many turns as one may report: what they change of the same pages is written once.
const MAX_GROUP = 2_000;
const MAX_QUEUE = 10_000;

// Every subject's verbs over one database.
export async function createLedger(database: Database, options: LedgerOptions = {}): Promise<Ledger> {
  const { groupCommit = true, maxGroup = MAX_GROUP, maxQueue = MAX_QUEUE, shard = 0, archive = null } = options;
  await migrate(database);
  const runner = createRunner(database, { maxGroup: groupCommit ? maxGroup : 1, maxQueue, shard });
  const files = createArchiveFiles(archive);
  const hot = {
    ...createAccruals(runner),
    ...createSessions(runner),
    ...createSubmissions(runner),
    ...createReads(runner),
  };
  return {
    ...withArchive(hot, createFindArchived(database.read, files)),
    ...createArchives(runner, files),
    ...createBudgets(runner),
    ...createOperators(runner),
    ...createCallers(runner),
    ...createContests(runner),
    ...createToken(runner),
    ...createTools(runner),
    async close() {
      await runner.drained();
      await database.close();
    },
  };
}
