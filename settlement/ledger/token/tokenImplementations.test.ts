import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ledger } from "../ledger.ts";
import { createPostgresLedger, ledgers, type Store } from "../testing/backends.ts";
import { accountOf } from "../testing/fixtures.ts";

const [first, second] = [accountOf(1), accountOf(2)];

describe.each(ledgers)("the token's code in $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterEach(() => store.remove());

  it("is remembered without a word, and a change says what came before, once", async () => {
    expect(await ledger.noteTokenImplementation(first, 1)).toBeNull();
    expect(await ledger.noteTokenImplementation(first, 2)).toBeNull();
    expect(await ledger.noteTokenImplementation(second, 3)).toEqual({ previous: first });
    expect(await ledger.noteTokenImplementation(second, 4)).toBeNull();
    expect(await ledger.noteTokenImplementation(first, 5)).toEqual({ previous: second });
    expect(await ledger.listTokenImplementations()).toEqual([
      { implementation: first, seenAtMs: 5 },
      { implementation: second, seenAtMs: 3 },
      { implementation: first, seenAtMs: 1 },
    ]);
  });
});

it("one of several daemons that see another code at once notes it", async () => {
  const store = await createPostgresLedger();
  const [one, other] = [await store.open(), await store.open()];
  await one.noteTokenImplementation(first, 1);
  const noted = await Promise.all([one, other].map((ledger) => ledger.noteTokenImplementation(second, 2)));
  expect(noted.filter((change) => change !== null)).toEqual([{ previous: first }]);
  await store.remove();
});
