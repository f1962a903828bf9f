import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import type { LedgerOptions } from "../createLedger.ts";
import { createLedger } from "../createLedger.ts";
import { openPostgres } from "../database/postgres/openPostgres.ts";
import type { Database } from "../database/sql.ts";
import { openSqlite } from "../database/sqlite/openSqlite.ts";
import type { Ledger } from "../ledger.ts";
import { DISKLESS } from "./diskless.ts";
import { emptyDatabase } from "./emptyDatabase.ts";
// Says what the test run provides, too.
import { TEMPLATE, TEMPLATE_DOOR } from "./postgresServer.ts";
import { administer } from "./startPostgres.ts";

// An empty store that can be opened several times, as several daemons or one daemon after another would.
export type Store = {
  location: string;
  open(options?: LedgerOptions): Promise<Ledger>;
  database(): Database;
  remove(): Promise<void>;
};

type Backend = { name: string; create: () => Promise<Store> };

export const backends: Backend[] = [
  { name: "SQLite", create: createSqliteStore },
  { name: "PostgreSQL", create: createPostgresStore },
];

// The same with the ledger's tables in them, which is how whoever does not care for migrations has them soonest.
export const ledgers: Backend[] = [
  { name: "SQLite", create: createSqliteStore },
  { name: "PostgreSQL", create: createPostgresLedger },
];

export async function createSqliteStore(): Promise<Store> {
  const folder = mkdtempSync(join(DISKLESS, "ledger-sqlite-"));
  const location = join(folder, "ledger.db");
  return storeOf(
    location,
    () => openSqlite({ path: location }),
    async () => rmSync(folder, { recursive: true, force: true }),
  );
}

export async function createPostgresStore(): Promise<Store> {
  const server = await postgresUrl();
  const name = await createDatabase(server);
  return postgresStore(server, name, () => dropDatabase(server, name));
}

// Of tests that have ended in this process, with the ledger's tables as they were made and nothing in them.
const emptied: string[] = [];

export async function createPostgresLedger(): Promise<Store> {
  const server = await postgresUrl(TEMPLATE_DOOR);
  const name = emptied.pop() ?? (await createDatabase(server, `TEMPLATE ${TEMPLATE}`));
  return postgresStore(server, name, async () => {
    if (await emptyDatabase(server, name, TEMPLATE)) emptied.push(name);
    else await dropDatabase(server, name);
  });
}

async function createDatabase(server: string, made = ""): Promise<string> {
  const name = `ledger_${randomUUID().replaceAll("-", "")}`;
  await administer(server, `CREATE DATABASE ${name} ${made}`);
  return name;
}

const dropDatabase = (server: string, name: string) => administer(server, `DROP DATABASE ${name} WITH (FORCE)`);

function postgresStore(server: string, name: string, remove: () => Promise<void>): Store {
  const location = `${server}/${name}`;
  return storeOf(location, () => openPostgres({ url: location }), remove);
}

// The address of the test run's server, which starts now if it has not yet.
export async function postgresUrl(door = "/"): Promise<string> {
  const response = await fetch(new URL(door, inject("postgresDoor")));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}

function storeOf(location: string, database: () => Database, remove: () => Promise<void>): Store {
  const opened: Ledger[] = [];
  return {
    location,
    database,
    async open(options) {
      const ledger = await createLedger(database(), options);
      opened.push(ledger);
      return ledger;
    },
    async remove() {
      for (const ledger of opened) await ledger.close().catch(() => undefined);
      await remove();
    },
  };
}
