import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { backends, type Store } from "../testing/backends.ts";
import { allOf, askingWith, askingWithin, insertionsOf, sendAll } from "./lists.ts";
import type { Database } from "./sql.ts";

const MOST = 200;
const NUMBERS = { into: "numbers", columns: { n: "BIGINT" } } as const;
const within = (list: string) => `SELECT n FROM numbers WHERE n ${list}`;
const ofEach = (table: string) => `SELECT asked.column1 AS n FROM ${table} AS asked`;

describe.each(backends)("a list, on $name,", ({ create }) => {
  let store: Store;
  let database: Database;
  beforeAll(async () => {
    store = await create();
    database = store.database();
    await database.migration(async (sql) => sql.script("CREATE TABLE numbers (n BIGINT NOT NULL)"));
  });
  afterAll(async () => {
    await database.close();
    await store.remove();
  });

  it("of any length has each of its items once", async () => {
    for (const length of [0, 1, 2, 3, 5, 9, 17, 33, 63, 64, 65, 127, 129, MOST]) {
      const list = Array.from({ length }, (_, i) => BigInt(i));
      const [found, asked] = await database.transaction(
        async (sql) => {
          sql.send("DELETE FROM numbers");
          sendAll(sql, insertionsOf(sql, NUMBERS, list));
          return [
            await allOf(sql, askingWithin(sql, "BIGINT", list, within)),
            await allOf(sql, askingWith(sql, ["BIGINT"], list, ofEach)),
          ];
        },
        { repeatable: true },
      );
      const inOrder = (rows: typeof found) => rows?.map(({ n }) => BigInt(n as bigint)).sort((a, b) => Number(a - b));
      expect(inOrder(found)).toEqual(list);
      expect(inOrder(asked)).toEqual(list);
    }
  });

  it("of rows has what follows from their columns in each of them", async () => {
    const pairs = {
      into: "pairs",
      columns: { name: "TEXT", n: "BIGINT" },
      derived: { same: "n", other: "name", fixed: "7" },
    } as const;
    const columns = "name TEXT NOT NULL, n BIGINT, same BIGINT, other TEXT, fixed BIGINT NOT NULL";
    await database.migration(async (sql) => sql.script(`CREATE TABLE pairs (${columns})`));
    const rows = Array.from({ length: 67 }, (_, i) => ({ name: `row ${i}`, n: i % 5 === 0 ? null : BigInt(i) }));
    const params = rows.flatMap(({ name, n }) => [name, n]);
    const found = await database.transaction(
      async (sql) => {
        sendAll(sql, insertionsOf(sql, pairs, params));
        return sql.all("SELECT * FROM pairs ORDER BY n, name");
      },
      { repeatable: true },
    );
    const expected = rows.map(({ name, n }) => ({ name, n, same: n, other: name, fixed: 7n }));
    expect(found).toHaveLength(rows.length);
    expect(found).toEqual(expect.arrayContaining(expected));
  });
});
