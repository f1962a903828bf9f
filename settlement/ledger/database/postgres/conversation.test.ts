import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPostgresStore, type Store } from "../../testing/backends.ts";
import { countBursts } from "../../testing/countBursts.ts";
import type { Database, Sql } from "../sql.ts";
import { openPostgres } from "./openPostgres.ts";

describe("a conversation with PostgreSQL", () => {
  let store: Store;
  let database: Database;
  beforeEach(async () => {
    store = await createPostgresStore();
    // One, so that each transaction finds what the one before it has left on the connection.
    database = openPostgres({ url: store.location, maxConnections: 1 });
  });
  afterEach(async () => {
    await database.close();
    await store.remove();
  });

  const inTransaction = <T>(work: (sql: Sql) => Promise<T>) => database.transaction(work, { repeatable: true });
  const read = (sql: Sql, id: bigint) => sql.all("SELECT id, name FROM told WHERE id = $1", [id]);

  it("takes what is asked without waiting as one burst, and answers each statement", async () => {
    await inTransaction(async (sql) => sql.send("CREATE TABLE told (id BIGINT, name TEXT)"));
    const asked = countBursts();
    const answers = await inTransaction(async (sql) => {
      sql.send("INSERT INTO told VALUES ($1, $2)", [0, "none"]);
      sql.send("DELETE FROM told");
      return Promise.all([
        sql.run("INSERT INTO told VALUES ($1, $2), ($3, $4)", [1, "one", 2, null]),
        sql.all("SELECT id, name FROM told ORDER BY id"),
        sql.each("SELECT name, id FROM told ORDER BY id", [], (values) => values),
        sql.run("CREATE INDEX told_id ON told (id)"),
        sql.all("SELECT id FROM told WHERE id = $1", [3]),
      ]);
    });
    expect(answers).toEqual([
      2,
      [
        { id: 1n, name: "one" },
        { id: 2n, name: null },
      ],
      [
        ["one", 1n],
        [null, 2n],
      ],
      0,
      [],
    ]);
    // The second is the commit.
    expect(asked()).toBe(2);
  });

  it("asks again for a statement that failed before it was there, and for those that were passed over behind it", async () => {
    const both = (sql: Sql) => Promise.all([read(sql, 1n), sql.all("SELECT CAST($1 AS TEXT) AS said", ["behind"])]);
    for (let tries = 0; tries < 2; tries++) await expect(inTransaction(both)).rejects.toThrow("told");
    await inTransaction(async (sql) => sql.send("CREATE TABLE told (id BIGINT, name TEXT)"));
    expect(await inTransaction(both)).toEqual([[], [{ said: "behind" }]]);
    expect(await inTransaction(both)).toEqual([[], [{ said: "behind" }]]);
  });

  it("never says what was sent before its transaction was given up", async () => {
    await inTransaction(async (sql) => sql.send("CREATE TABLE told (id BIGINT, name TEXT)"));
    const given = inTransaction(async (sql) => {
      await read(sql, 1n);
      sql.send("INSERT INTO told VALUES ($1, $2)", [1, "one"]);
      throw new Error("given up");
    });
    await expect(given).rejects.toThrow("given up");
    expect(await inTransaction((sql) => Promise.resolve(read(sql, 1n)))).toEqual([]);
  });
});
