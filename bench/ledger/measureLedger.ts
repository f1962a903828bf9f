import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openArchiveFolder } from "../../settlement/ledger/archive/folder.ts";
import { createLedger } from "../../settlement/ledger/createLedger.ts";
import { openPostgres } from "../../settlement/ledger/database/postgres/openPostgres.ts";
import type { Database } from "../../settlement/ledger/database/sql.ts";
import { openSqlite } from "../../settlement/ledger/database/sqlite/openSqlite.ts";
import type { Ledger } from "../../settlement/ledger/ledger.ts";
import { startPostgres } from "../../settlement/ledger/testing/startPostgres.ts";
import { DAY_MS, FILLED_AT_MS, fillLedger } from "./fillLedger.ts";

const CHARGES = 100_000;
const POSTGRES_CHARGES = 50_000;
const AFTER_MS = FILLED_AT_MS + 10 * DAY_MS;

export type LedgerSize = {
  charges: number;
  // What a charge takes in the database before it is archived, in files after it, and what of it stays in the database.
  hot: number;
  archived: number;
  left: number;
  archivedPerSecond: number;
  // The longest that one commit of it took.
  longestCommitMs: number;
};

// How much room a charge takes in the ledger, with everything that is kept for its sake: turn or call, receipt, batch, signed
// bytes and indices; how much of that is left when it is archived, and how fast archiving is.
export async function measureLedger() {
  const sqlite = await onSqlite();
  const postgres = await onPostgres();
  return {
    charges: sqlite.charges,
    bytesPerCharge: { hot: sqlite.hot, archived: sqlite.archived, left: sqlite.left },
    archivedPerSecond: sqlite.archivedPerSecond,
    longestCommitMs: sqlite.longestCommitMs,
    postgresCharges: postgres.charges,
    postgresBytesPerCharge: { hot: postgres.hot, archived: postgres.archived, left: postgres.left },
    postgresArchivedPerSecond: postgres.archivedPerSecond,
  };
}

async function onSqlite(): Promise<LedgerSize> {
  const folder = mkdtempSync(join(tmpdir(), "bench-ledger-"));
  try {
    const database = openSqlite({ path: join(folder, "ledger.db") });
    return await measure(database, join(folder, "archive"), CHARGES, async ({ read }) => {
      const [row = {}] = await read.all(
        `SELECT (SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count) AS pages,
           (SELECT page_size FROM pragma_page_size) AS size`,
      );
      return Number(row.pages) * Number(row.size);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(): Promise<LedgerSize> {
  const server = await startPostgres();
  const folder = mkdtempSync(join(tmpdir(), "bench-ledger-"));
  try {
    const database = openPostgres({ url: `${server.url}/postgres` });
    return await measure(database, folder, POSTGRES_CHARGES, async ({ read }) => {
      // What has left is room for what comes; written again, the tables are as large as what is in them.
      const tables = await read.all("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
      for (const { tablename } of tables) await read.all(`VACUUM FULL ${tablename}`);
      const [row = {}] = await read.all(
        "SELECT SUM(pg_total_relation_size(quote_ident(tablename)::regclass))::bigint AS bytes FROM pg_tables WHERE schemaname = 'public'",
      );
      return Number(row.bytes);
    });
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  database: Database,
  folder: string,
  charges: number,
  bytesOf: (database: Database) => Promise<number>,
): Promise<LedgerSize> {
  const ledger = await createLedger(database, { archive: openArchiveFolder(folder) });
  try {
    const empty = await bytesOf(database);
    console.error(`filling a ledger with ${charges} charges …`);
    await fillLedger(ledger, charges);
    const hot = await bytesOf(database);
    console.error("archiving them …");
    const { seconds, longestMs } = await archiveAll(ledger);
    const left = await bytesOf(database);
    const files = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    const differences = await ledger.audit();
    if (differences.length > 0) throw new Error(differences.join("; "));
    return {
      charges,
      hot: Math.round((hot - empty) / charges),
      archived: Math.round(files / charges),
      left: Math.round((left - empty) / charges),
      archivedPerSecond: Math.round(charges / seconds),
      longestCommitMs: Math.round(longestMs),
    };
  } finally {
    await ledger.close();
  }
}

// As the engine does it, without waiting for anybody in between.
async function archiveAll(ledger: Ledger): Promise<{ seconds: number; longestMs: number }> {
  const startedAt = performance.now();
  let longestMs = 0;
  for (;;) {
    const number = await ledger.startArchive(AFTER_MS, AFTER_MS);
    if (number === null) return { seconds: (performance.now() - startedAt) / 1_000, longestMs };
    const damage = await ledger.verifyArchive(number);
    if (damage !== null) throw new Error(damage);
    for (let left = 1; left > 0; ) {
      const commitAt = performance.now();
      const moved = await ledger.moveArchived(number);
      longestMs = Math.max(longestMs, performance.now() - commitAt);
      if (moved.kind !== "moved") throw new Error(`archive ${number} was ${moved.kind}`);
      left = moved.left;
    }
  }
}
