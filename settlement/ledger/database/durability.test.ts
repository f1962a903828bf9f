import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLedger } from "../createLedger.ts";
import { openLedger } from "../openLedger.ts";
import { backends, createPostgresStore, postgresUrl, type Store } from "../testing/backends.ts";
import { ALICE, accountOf, HASHES, POLICY, RICH, toolOf, turnOf, usdc } from "../testing/fixtures.ts";
import { administer } from "../testing/startPostgres.ts";
import { migrate, migrationsOf } from "./migrate.ts";
import type { Database } from "./sql.ts";
import { copySqlite } from "./sqlite/copySqlite.ts";
import { openSqlite } from "./sqlite/openSqlite.ts";

describe("a SQLite file", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ledger-file-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("that is full refuses accruals and loses none that it acknowledged", async () => {
    const path = join(folder, "ledger.db");
    const database = openSqlite({ path, maxPages: 120 });
    const ledger = await createLedger(database, { maxGroup: 16 });
    const answers = await Promise.allSettled(
      Array.from({ length: 1_000 }, (_, i) => ledger.recordTurn(turnOf(`${i}`, { payer: accountOf(i + 1) }), 0)),
    );
    const refused = answers.filter((answer) => answer.status === "rejected");
    const acknowledged = answers.flatMap((answer, i) => (answer.status === "fulfilled" ? [i] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(acknowledged.length).toBeGreaterThan(0);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: "ledger_unavailable", retryable: true });

    // As soon as there is room, the same process goes on.
    await database.transaction(async (sql) => void (await sql.all("PRAGMA max_page_count = 100000")), {
      repeatable: false,
    });
    const later = turnOf("later", { payer: accountOf(5_000) });
    expect(await ledger.recordTurn(later, 0)).toMatchObject({ kind: "recorded" });
    await ledger.close();

    const again = await openLedger(path);
    expect(await again.readTotals()).toMatchObject({ accrued: BigInt(acknowledged.length + 1) * 120_000n });
    expect(await again.audit()).toEqual([]);
    const retried = await Promise.all(
      answers.map((_, i) => again.recordTurn(turnOf(`${i}`, { payer: accountOf(i + 1) }), 0)),
    );
    expect(retried.flatMap(({ kind }, i) => (kind === "duplicate" ? [i] : []))).toEqual(acknowledged);
    await again.close();
  });

  it("that is damaged is not opened", async () => {
    const path = join(folder, "ledger.db");
    const ledger = await openLedger(path);
    await Promise.all(Array.from({ length: 500 }, (_, i) => ledger.recordTurn(turnOf(`${i}`), 0)));
    await ledger.close();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 4 * 4096, 12 * 4096);
    const damaged = join(folder, "damaged.db");
    writeFileSync(damaged, bytes);
    await expect(openLedger(damaged)).rejects.toMatchObject({ code: "ledger_corrupt" });
    writeFileSync(damaged, "this is no database, and it is long enough to be noticed as such ".repeat(20));
    await expect(openLedger(damaged)).rejects.toMatchObject({
      code: "ledger_corrupt",
      message: `SETTLEMENT_LEDGER ${damaged} is not a SQLite database; name another file`,
    });
  });

  it("holds everything that was acknowledged at the moment of a power loss", async () => {
    const path = join(folder, "ledger.db");
    const ledger = await openLedger(path);
    await Promise.all(Array.from({ length: 50 }, (_, i) => ledger.recordTurn(turnOf(`${i}`), 0)));
    // What is on disk now, while the ledger is still open: the file and its log.
    const copy = join(folder, "copy.db");
    for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
    await ledger.close();
    const after = await openLedger(copy);
    expect(await after.readTotals()).toMatchObject({ accrued: 50n * 120_000n });
    await after.close();
  });

  it("has its log moved into the file by another thread, and written over, while it is used", async () => {
    const path = join(folder, "ledger.db");
    const ledger = await createLedger(openSqlite({ path, checkpointPages: 50 }));
    const other = new DatabaseSync(path);
    const looking = other.prepare("PRAGMA wal_checkpoint(NOOP)");
    const pagesInLog = () => Number(looking.get()?.log);
    let turns = 0;
    const accrue = () => ledger.recordTurn(turnOf(`${turns++}`), 0);
    let longest = 0;
    // Only whoever writes after it was moved begins it again. A hundred times as much is never needed.
    while (pagesInLog() >= longest && longest < 5_000) {
      longest = pagesInLog();
      await Promise.all([accrue(), accrue()]);
    }
    expect(longest).toBeGreaterThanOrEqual(50);
    expect(longest).toBeLessThan(5_000);
    // What is in the file by then is whole.
    const copy = join(folder, "copy.db");
    for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
    other.close();
    await ledger.close();
    const after = await openLedger(copy);
    expect(await after.readTotals()).toMatchObject({ accrued: BigInt(turns) * 120_000n });
    expect(await after.audit()).toEqual([]);
    await after.close();
  });

  // No test can pull the plug of the machine it runs on: that a commit waits for the disk is a promise of SQLite's, and
  // this is what it must be asked for.
  it("waits for the disk with every commit", async () => {
    const database = openSqlite({ path: join(folder, "ledger.db") });
    const settings = await database.transaction(
      async (sql) => [await sql.all("PRAGMA synchronous"), await sql.all("PRAGMA journal_mode")],
      { repeatable: false },
    );
    expect(settings).toEqual([[{ synchronous: 2n }], [{ journal_mode: "wal" }]]);
    await database.close();
  });

  it("that another process has locked holds up writes and nothing else, and they go on when it is free", async () => {
    const path = join(folder, "ledger.db");
    const ledger = await createLedger(openSqlite({ path }));
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const writing = ledger.recordTurn(turnOf("t"), 0);
    // Everything that is ready runs first: the write has met the lock by the time the read is answered.
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ledger.readTotals()).toMatchObject({ accrued: 0n });
    other.exec("ROLLBACK");
    expect(await writing).toMatchObject({ kind: "recorded" });
    other.close();
    await ledger.close();
  });

  it("that stays locked is unavailable, with the reason, for all who wait at the same time", async () => {
    const path = join(folder, "ledger.db");
    const database = openSqlite({ path, busyTimeoutMs: 20 });
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const waiting = Array.from({ length: 20 }, () => database.transaction(async () => "done", { repeatable: false }));
    for (const answer of await Promise.allSettled(waiting)) {
      expect(answer).toMatchObject({
        status: "rejected",
        reason: { code: "ledger_unavailable", retryable: true, message: expect.stringContaining("locked by another") },
      });
    }
    other.exec("ROLLBACK");
    other.close();
    expect(await database.transaction(async () => "done", { repeatable: false })).toBe("done");
    await database.close();
  });

  it("is its owner's alone, with its log and its copies, whatever the umask and the folder's mode are", async () => {
    const open = join(folder, "open");
    mkdirSync(open, { mode: 0o755 });
    const path = join(open, "ledger.db");
    // What a process usually has. A worker thread may not set it, and these tests run in processes.
    const before = process.umask(0o000);
    try {
      const ledger = await openLedger(path);
      await ledger.recordTurn(turnOf("t"), 0);
      copySqlite(path, join(open, "copy.db"));
      const modes = readdirSync(open).map((name) => [name, statSync(join(open, name)).mode & 0o777]);
      expect(Object.fromEntries(modes)).toEqual({
        "copy.db": 0o600,
        "ledger.db": 0o600,
        "ledger.db-shm": 0o600,
        "ledger.db-wal": 0o600,
      });
      await ledger.close();
    } finally {
      process.umask(before);
    }
  });

  it.each([
    ["a folder that is not there", (place: string) => join(place, "no", "ledger.db"), "there is no folder"],
    ["a folder", (place: string) => place, "it is there and not a file; name one"],
    ["a device", () => "/dev/null", "it is there and not a file; name one"],
    ["below a file", (place: string) => join(place, "file", "ledger.db"), "is not a folder; name a file elsewhere"],
  ])("in %s is not made, and the reason is said", async (_, pathIn, reason) => {
    writeFileSync(join(folder, "file"), "");
    await expect(openLedger(pathIn(folder))).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringContaining(reason),
    });
  });

  it("is copied into a new file only, and what goes wrong leaves none behind", async () => {
    const path = join(folder, "ledger.db");
    await (await openLedger(path)).close();
    const target = join(folder, "copy.db");
    expect(() => copySqlite(path, join(folder, "no", "copy.db"))).toThrow("there is no folder");
    copySqlite(path, target);
    expect(() => copySqlite(path, target)).toThrow("name a new file");
    writeFileSync(join(folder, "not.db"), "this is no database ".repeat(100));
    expect(() => copySqlite(join(folder, "not.db"), join(folder, "none.db"))).toThrow();
    expect(readdirSync(folder)).not.toContain("none.db");
  });

  it("that is closed answers with an error and not with silence", async () => {
    const ledger = await openLedger(join(folder, "ledger.db"));
    await ledger.close();
    await ledger.close();
    await expect(ledger.recordTurn(turnOf("t"), 0)).rejects.toMatchObject({ code: "ledger_unavailable" });
  });
});

describe("a PostgreSQL server that goes away", () => {
  let store: Store;
  beforeEach(async () => {
    store = await createPostgresStore();
  });
  afterEach(() => store.remove());

  const terminate = async () =>
    administer(
      await postgresUrl(),
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${new URL(store.location).pathname.slice(1)}'`,
    );

  it("in the middle of a group: it is repeated, and every call is answered as if nothing had happened", async () => {
    const database = store.database();
    let killed = false;
    const ledger = await createLedger(interrupted(database, { after: 2, by: terminate, done: () => (killed = true) }));
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => ledger.recordTurn(turnOf(`${i}`), 0)));
    expect(killed).toBe(true);
    expect(answers.every(({ kind }) => kind === "recorded")).toBe(true);
    expect(await ledger.readTotals()).toMatchObject({ accrued: 40n * 120_000n });
    expect(await ledger.audit()).toEqual([]);
    await ledger.close();
  });

  it("after the commit and before its answer: repeated without effect, and each verb answers as the first time", async () => {
    const ledger = await store.open();
    const call = (callId: string) => ({ callId, sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(1) });
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(10), expiresAtMs: 100 }, 0);
    await ledger.openSession({ id: "t", payer: ALICE, maxSpend: usdc(10), expiresAtMs: 100 }, 0);
    for (const callId of ["a", "b"]) await ledger.hold(call(callId), RICH, 1);
    await ledger.recordTurn(turnOf("known"), 0);

    const lost = losingTheAnswerToCommit();
    const answers = await Promise.all([
      ledger.recordTurn(turnOf("new"), 0),
      ledger.recordTurn(turnOf("known"), 0),
      ledger.openSession({ id: "u", payer: ALICE, maxSpend: usdc(10), expiresAtMs: 100 }, 0),
      ledger.hold(call("c"), RICH, 1),
      ledger.hold(call("a"), RICH, 1),
      ledger.capture({ callId: "a", hashes: HASHES }, POLICY, 2),
      ledger.void("b"),
      ledger.closeSession("t", 3),
    ]);
    expect(lost()).toBe(1);
    expect(answers.map(({ kind }) => kind)).toEqual([
      "recorded",
      "duplicate",
      "opened",
      "held",
      "duplicate",
      "captured",
      "voided",
      "closed",
    ]);
    expect(await ledger.findSession("s")).toMatchObject({ spent: 1n, held: 1n });
    expect(await ledger.readTotals()).toMatchObject({ accrued: 240_001n });
    expect(await ledger.audit()).toEqual([]);
  });

  it("and does not come back is reported as unavailable, to be tried again later", async () => {
    const unreachable = new URL(store.location);
    unreachable.port = "1";
    await expect(openLedger(unreachable.href)).rejects.toMatchObject({ code: "ledger_unavailable", retryable: true });
  });
});

// A database that is cut off once, before the n-th statement whose answer is waited for.
function interrupted(
  database: Database,
  { after, by, done }: { after: number; by: () => Promise<void>; done: () => void },
): Database {
  let left = after;
  const count = async () => {
    left -= 1;
    if (left !== 0) return;
    await by();
    done();
  };
  return {
    ...database,
    transaction: (work, options) =>
      database.transaction(
        (sql, attempt) =>
          work(
            {
              ...sql,
              async all(text, params) {
                await count();
                return sql.all(text, params);
              },
              async run(text, params) {
                await count();
                return sql.run(text, params);
              },
            },
            attempt,
          ),
        options,
      ),
  };
}

// Cuts the next connection that commits, after the server has committed and before the client hears of it.
function losingTheAnswerToCommit(): () => number {
  const original = pg.Client.prototype.query;
  let lost = 0;
  pg.Client.prototype.query = function query(this: pg.Client, ...args: unknown[]) {
    const [burst] = args as [Burst];
    const { handleCommandComplete } = burst;
    burst.handleCommandComplete = (message) => {
      handleCommandComplete.call(burst, message);
      if (message.text !== "COMMIT" || lost > 0) return;
      lost += 1;
      pg.Client.prototype.query = original;
      burst.handleReadyForQuery = () => burst.handleError(new Error("Connection terminated unexpectedly"));
    };
    return Reflect.apply(original, this, args);
  } as typeof original;
  return () => lost;
}

// What hears the server's answers.
type Burst = {
  handleCommandComplete(message: { text: string }): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
};

describe.each(backends)("statements that are sent without waiting, on $name", ({ create }) => {
  it("run in their order, and one that fails undoes the others", async () => {
    const store = await create();
    const database = store.database();
    const transaction = (...texts: string[]) =>
      database.transaction(async (sql) => void texts.map((text) => sql.send(text)), { repeatable: true });
    await transaction("CREATE TABLE sent (id INTEGER PRIMARY KEY)", "INSERT INTO sent VALUES (1)");
    await expect(
      transaction("INSERT INTO sent VALUES (2)", "INSERT INTO sent VALUES (1)", "INSERT INTO sent VALUES (3)"),
    ).rejects.toThrow(/unique/i);
    expect(await database.read.all("SELECT id FROM sent")).toEqual([{ id: 1n }]);
    await transaction("INSERT INTO sent VALUES (4)");
    await database.close();
    await store.remove();
  });

  it("say why they failed, whatever is asked behind them", async () => {
    const store = await create();
    const database = store.database();
    await database.transaction(async (sql) => void sql.send("CREATE TABLE sent (id INTEGER PRIMARY KEY)"), {
      repeatable: true,
    });
    const failing = database.transaction(
      async (sql) => {
        const first = (async () => sql.run("INSERT INTO sent VALUES (1), (1)"))();
        await first.catch(() => undefined);
        await sql.all("SELECT id FROM sent");
        await first;
      },
      { repeatable: true },
    );
    await expect(failing).rejects.toThrow(/unique/i);
    await database.close();
    await store.remove();
  });
});

describe.each(backends)("migrations on $name", ({ create }) => {
  let store: Store;
  beforeEach(async () => {
    store = await create();
  });
  afterEach(() => store.remove());

  it("a ledger that is opened again is not migrated again", async () => {
    await (await store.open()).close();
    const ledger = await store.open();
    expect(await ledger.recordTurn(turnOf("t"), 0)).toMatchObject({ kind: "recorded" });
  });

  it("a new migration is applied to a ledger that is in use", async () => {
    const ledger = await store.open();
    await ledger.recordTurn(turnOf("t"), 0);
    const database = store.database();
    const next = { number: 9_999, name: "9999_next.sql", script: "CREATE TABLE next (id INTEGER); DROP TABLE next;" };
    await migrate(database, [...migrationsOf(), next]);
    expect(await database.read.all("SELECT name FROM migrations ORDER BY number")).toMatchObject([
      ...migrationsOf().map(({ name }) => ({ name })),
      { name: "9999_next.sql" },
    ]);
    await database.close();
    // The older version no longer opens it.
    await expect(store.open()).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringContaining("newer version"),
    });
  });

  it("a migration may compute what it adds from the charges that a ledger has", async () => {
    const ledger = await store.open();
    await ledger.recordTurn(turnOf("delivered"), 0);
    await ledger.recordTurn(turnOf("failed", { outcome: "failed" }), 0);
    const before = await ledger.readTotals();
    const script = `DELETE FROM totals;
      INSERT INTO totals (shard, accrued, settled, absorbed, refused, voided, accrued_charges, settled_charges, gas_used,
        latency_ms)
      SELECT 0, CAST(SUM(amount) AS BIGINT), 0, 0, 0,
        CAST(SUM(CASE WHEN state = 'voided' THEN amount ELSE 0 END) AS BIGINT), COUNT(*), 0, 0, 0
      FROM charges;`;
    const database = store.database();
    await migrate(database, [...migrationsOf(), { number: 9_999, name: "9999_sums.sql", script }]);
    await database.close();
    expect(await ledger.readTotals()).toEqual(before);
    expect(await ledger.audit()).toEqual([]);
  });

  it("a migration that fails leaves nothing behind", async () => {
    const database = store.database();
    const broken = {
      number: 9_999,
      name: "9999_broken.sql",
      script: "CREATE TABLE half (id INTEGER); SELECT nonsense;",
    };
    await expect(migrate(database, [...migrationsOf(), broken])).rejects.toThrow();
    await expect((async () => database.read.all("SELECT * FROM half"))()).rejects.toThrow();
    await expect((async () => database.read.all("SELECT * FROM migrations"))()).rejects.toThrow();
    await database.close();
  });

  it("a migration that was changed after it was applied is noticed", async () => {
    await store.open();
    const database = store.database();
    const changed = migrationsOf().map((migration) => ({ ...migration, script: `${migration.script}-- more` }));
    await expect(migrate(database, changed)).rejects.toMatchObject({ code: "ledger_corrupt" });
    await database.close();
  });
});

it("daemons that start at once on an empty PostgreSQL migrate it once", async () => {
  const store = await createPostgresStore();
  const [one] = await Promise.all([store.open(), store.open(), store.open()]);
  expect(await one?.recordTurn(turnOf("t"), 0)).toMatchObject({ kind: "recorded" });
  await store.remove();
});
