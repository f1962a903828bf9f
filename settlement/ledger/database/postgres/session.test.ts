import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPostgresStore, postgresUrl, type Store } from "../../testing/backends.ts";
import { turnOf } from "../../testing/fixtures.ts";
import { administer, startPostgres } from "../../testing/startPostgres.ts";
import { openPostgres } from "./openPostgres.ts";

describe("a session with PostgreSQL", () => {
  let store: Store;
  let name: string;
  beforeEach(async () => {
    store = await createPostgresStore();
    name = new URL(store.location).pathname.slice(1);
  });
  afterEach(() => store.remove());

  const alter = async (setting: string) => administer(await postgresUrl(), `ALTER DATABASE ${name} SET ${setting}`);
  const hangUp = async () =>
    administer(await postgresUrl(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);

  it("waits for the disk with every commit, whatever the defaults of the database are", async () => {
    await alter("synchronous_commit = off");
    const database = store.database();
    expect(await database.read.all("SHOW synchronous_commit")).toEqual([{ synchronous_commit: "on" }]);
    await database.close();
  });

  it("bounds statements, and neither migrations nor audits", async () => {
    const database = store.database();
    const asked = "SELECT current_setting('statement_timeout') AS timeout";
    const bounds = [
      await database.transaction(async (sql) => sql.all(asked), { repeatable: true }),
      await database.snapshot(async (sql) => sql.all(asked)),
      await new Promise((resolve) => database.migration(async (sql) => resolve(await sql.all(asked)))),
      await database.read.all(asked),
    ];
    expect(bounds).toEqual([[{ timeout: "30s" }], [{ timeout: "0" }], [{ timeout: "0" }], [{ timeout: "30s" }]]);
    await database.close();
  });

  it("with a server that only reads is unavailable, to be tried again later, and goes on when it writes", async () => {
    const ledger = await store.open();
    await alter("default_transaction_read_only = on");
    await hangUp();
    const unavailable = { code: "ledger_unavailable", retryable: true, message: expect.stringContaining("only reads") };
    await expect(ledger.recordTurn(turnOf("t"), 0)).rejects.toMatchObject(unavailable);
    await expect(ledger.readTotals()).rejects.toMatchObject(unavailable);
    await alter("default_transaction_read_only = off");
    expect(await ledger.recordTurn(turnOf("t"), 0)).toMatchObject({ kind: "recorded" });
  });

  it("that the server has ended because nothing came for too long is begun again", async () => {
    const database = store.database();
    const name = new URL(store.location).pathname.slice(1);
    let tries = 0;
    const work = database.transaction(
      async (sql) => {
        tries += 1;
        if (tries === 1) {
          const [row] = await sql.all("SELECT pg_backend_pid() AS pid");
          await sql.all("SET LOCAL idle_in_transaction_session_timeout = 1");
          const alive = "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND pid = $2";
          await expect.poll(() => database.read.all(alive, [name, row?.pid ?? null])).toEqual([]);
        }
        return sql.all("SELECT 1 AS one");
      },
      { repeatable: false },
    );
    expect(await work).toEqual([{ one: 1n }]);
    expect(tries).toBe(2);
    await database.close();
  });

  it("that turns read-only while it is used is left for one that writes", async () => {
    const database = store.database();
    await database.read.all("SET default_transaction_read_only = on");
    const write = () =>
      database.transaction(async (sql) => void (await sql.run("CREATE TABLE written (id INTEGER)")), {
        repeatable: true,
      });
    await write();
    expect(await database.read.all("SELECT * FROM written")).toEqual([]);
    await database.close();
  });
});

it.each(["fsync=off", "full_page_writes=off"])("a server with %s is not trusted with a ledger", async (setting) => {
  const server = await startPostgres({ settings: [setting] });
  const database = openPostgres({ url: `${server.url}/postgres` });
  try {
    await expect(database.read.all("SELECT 1")).rejects.toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringContaining(setting),
    });
  } finally {
    await database.close();
    await server.stop();
  }
});
