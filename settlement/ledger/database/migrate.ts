import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { SettlementError } from "../../domain/errors.ts";
import { text } from "./decode.ts";
import type { Database } from "./sql.ts";

export type Migration = { number: number; name: string; script: string };

const FOLDER = new URL("./migrations/", import.meta.url);
const NAME_PATTERN = /^(\d{4})_\w+\.sql$/;

export function migrationsOf(folder: URL = FOLDER): Migration[] {
  return readdirSync(folder)
    .filter((name) => NAME_PATTERN.test(name))
    .sort()
    .map((name) => ({
      number: Number(name.slice(0, 4)),
      name,
      script: readFileSync(new URL(name, folder), "utf8"),
    }));
}

// Brings a database up to this version. Two processes that start at once take turns, and the second finds nothing to do.
export async function migrate(database: Database, migrations: readonly Migration[] = migrationsOf()): Promise<void> {
  await database.migration(async (sql) => {
    await sql.script(
      "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)",
    );
    const applied = await sql.all("SELECT number, name, checksum FROM migrations ORDER BY number");
    const known = new Map(migrations.map((migration) => [migration.number, migration]));
    for (const row of applied) {
      const name = text(row, "name");
      const migration = known.get(Number(row.number));
      if (migration === undefined) {
        throw new SettlementError(
          "invalid_config",
          `the ledger was written by a newer version of this service: it has migration ${name}, and this version ends at ` +
            `${migrations.at(-1)?.name}; start the newer version`,
        );
      }
      if (checksumOf(migration) !== row.checksum) {
        throw new SettlementError(
          "ledger_corrupt",
          `migration ${name} was applied to this ledger in another form than it has now; a migration never changes once ` +
            "it is released: restore the file, and put changes into a new one",
        );
      }
    }
    const done = new Set(applied.map((row) => Number(row.number)));
    for (const migration of migrations) {
      if (done.has(migration.number)) continue;
      await sql.script(migration.script);
      await sql.run("INSERT INTO migrations (number, name, checksum) VALUES ($1, $2, $3)", [
        migration.number,
        migration.name,
        checksumOf(migration),
      ]);
    }
  });
}

// Line ends are no part of it, so that a checkout on another system is the same migration.
function checksumOf({ script }: Migration): string {
  return createHash("sha256").update(script.replaceAll("\r\n", "\n")).digest("hex");
}
