import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createPostgresStore, type Store } from "../../testing/backends.ts";
import { countBursts } from "../../testing/countBursts.ts";
import { insertionsOf } from "../lists.ts";
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

  it("hands over lists and values as they are, whatever is in them", async () => {
    const names = ["", "NULL", '{"a",b}', "back\\slash", "é ☃ 😀", "x".repeat(70_000), "é".repeat(130), null, "last"];
    const numbers = [0, -1, 255n, 2n ** 31n, -(2n ** 40n), 2n ** 53n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)];
    const small = [0, 1, -1, 256, null, 2 ** 31 - 1, -(2 ** 31), 7n, 8];
    const rows = names.map((name, i) => [numbers[i] ?? null, name, small[i] ?? null] as const);
    const columns = { number: "BIGINT", name: "TEXT", small: "INTEGER" } as const;
    const insertion = { into: "told", columns, tail: "RETURNING name, number, small" };
    const asBigint = (value: string | bigint | number | null) => (typeof value === "number" ? BigInt(value) : value);
    const expected = rows.map(([number, name, little]) => [name, asBigint(number), asBigint(little)]);
    const told = await inTransaction(async (sql) => {
      sql.send("CREATE TABLE told (number BIGINT, name TEXT, small INTEGER)");
      const [statement] = insertionsOf(sql, insertion, rows.flat());
      if (statement === undefined) throw new Error("nothing was to be said");
      const inList = await sql.each(statement.text, statement.params, (values) => [...values]);
      const inValues = [];
      for (const row of rows) {
        const text = "SELECT CAST($2 AS TEXT), CAST($1 AS BIGINT), CAST($3 AS INTEGER)";
        inValues.push(...(await sql.each(text, row, (values) => [...values])));
      }
      return { inList, inValues };
    });
    expect(told.inList).toEqual(expected);
    expect(told.inValues).toEqual(expected);
  });

  it.each([
    { column: "BIGINT", items: [2n ** 63n] },
    { column: "BIGINT", items: [1n, -(2n ** 63n) - 1n] },
    { column: "BIGINT", items: [0.5] },
    { column: "INTEGER", items: [2 ** 31] },
    { column: "INTEGER", items: [1, -(2 ** 31) - 1] },
    { column: "INTEGER", items: [0.5] },
  ] as const)("cuts nothing off: $items is no list of $column", async ({ column, items }) => {
    const list = { column, items, first: 0, width: 1 };
    const text = `SELECT unnest(CAST($1 AS ${column}[])) AS n`;
    await expect(inTransaction(async (sql) => sql.all(text, [list]))).rejects.toThrow(RangeError);
    // The connection is as good as before.
    expect(await inTransaction(async (sql) => sql.all(text, [{ ...list, items: [7] }]))).toEqual([{ n: 7n }]);
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
