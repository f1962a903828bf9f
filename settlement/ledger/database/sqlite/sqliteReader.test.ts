import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { backends, type Store } from "../../testing/backends.ts";

// More than what is read in place.
const LARGE_BYTES = 5 * 1024 * 1024;
const ROWS = 10_500;
const ROWS_AT_ONCE = 1_000;
const NUMBERS = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS}) SELECT n FROM numbers`;

let store: Store;
beforeEach(async () => {
  store = (await backends.find(({ name }) => name === "SQLite")?.create()) as Store;
});
afterEach(() => store.remove());

// Closed, so that all of it is in the file.
async function largeDatabase() {
  const database = store.database();
  await database.migration(async (sql) => {
    await sql.script(`CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (zeroblob(${LARGE_BYTES}))`);
  });
  await database.close();
  return store.database();
}

it("what is long is read by another thread, and taken over in parts, between which others run", async () => {
  const database = await largeDatabase();
  const asked = vi.spyOn(Worker.prototype, "postMessage");
  const rows = await database.snapshot(async (sql) => sql.all(NUMBERS));
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: ROWS }, (_, i) => BigInt(i + 1)));
  // Each part is asked for when the one before it was taken.
  const kinds = asked.mock.calls.map(([question]) => question.kind).filter((kind) => kind !== "check");
  expect(kinds).toEqual(["begin", "all", ...Array(Math.floor(ROWS / ROWS_AT_ONCE)).fill("more"), "end"]);
  asked.mockRestore();
  await database.close();
});

it("what is left of a long read that failed is forgotten with it", async () => {
  const database = await largeDatabase();
  const failing = database.snapshot(async (sql) => {
    void Promise.resolve(sql.all(NUMBERS)).catch(() => undefined);
    throw new Error("no longer needed");
  });
  await expect(failing).rejects.toThrow("no longer needed");
  expect(await database.snapshot(async (sql) => sql.all(`SELECT COUNT(*) AS large FROM large`))).toEqual([
    { large: 1n },
  ]);
  await database.close();
});
