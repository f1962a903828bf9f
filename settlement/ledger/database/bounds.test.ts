import { afterAll, beforeAll, expect, it } from "vitest";
import type { Ledger } from "../ledger.ts";
import { createPostgresStore, type Store } from "../testing/backends.ts";
import { hashOf, turnOf } from "../testing/fixtures.ts";
import { administer } from "../testing/startPostgres.ts";

// A table that the server knows to be small is looked through in a loop, and what stands inside of the loop runs once for each row:
// a part of a statement with a bound of its own then takes that much each time. Here it has no other way.
const WITHOUT = ["hashagg", "hashjoin", "mergejoin", "material", "sort", "memoize"];

let store: Store;
let ledger: Ledger;
beforeAll(async () => {
  store = await createPostgresStore();
  const slash = store.location.lastIndexOf("/");
  const [server, name] = [store.location.slice(0, slash), store.location.slice(slash + 1)];
  for (const way of WITHOUT) await administer(server, `ALTER DATABASE ${name} SET enable_${way} = off`);
  ledger = await store.open();
});
afterAll(() => store.remove());

it("no more steps of the time line are forgotten than were asked for, however PostgreSQL finds them", async () => {
  for (const atMs of [0, 10_000, 20_000, 30_000]) await ledger.recordTurn(turnOf(`at ${atMs}`), atMs);
  expect(await ledger.forgetStats(30_000, 2)).toBe(2);
});

it("no more answers are forgotten than were asked for", async () => {
  for (const key of ["a", "b", "c", "d"]) {
    await ledger.claimKey({ caller: "alice", key, digest: hashOf(key) }, 1, 10);
    await ledger.saveAnswer("alice", key, { status: 200, body: "{}" });
  }
  expect(await ledger.forgetAnswers(5, 2)).toBe(2);
});
