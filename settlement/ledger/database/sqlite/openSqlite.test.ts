import { expect, it } from "vitest";
import { backends } from "../../testing/backends.ts";
import type { Sql } from "../sql.ts";

// Longer than a transaction may take in one go.
const BUSY_MS = 40;

it("others run between a long transaction and its commit, which is long as well", async () => {
  const store = await backends.find(({ name }) => name === "SQLite")?.create();
  if (store === undefined) throw new Error("there is no SQLite");
  const database = store.database();
  await database.migration(async (sql) => sql.script("CREATE TABLE written (n INTEGER)"));
  const count = async () => (await database.read.all("SELECT COUNT(*) AS rows FROM written"))[0]?.rows;
  let seen: Promise<unknown> = Promise.resolve("nobody else ran");
  const work = async (sql: Sql) => {
    await sql.run("INSERT INTO written (n) VALUES ($1)", [1]);
    setImmediate(() => {
      seen = count();
    });
    const endMs = performance.now() + BUSY_MS;
    while (performance.now() < endMs);
  };
  await database.transaction(work, { repeatable: false });
  expect([await seen, await count()]).toEqual([0n, 1n]);
  await database.close();
  await store.remove();
});
