import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLedger } from "../createLedger.ts";
import type { Lease, Ledger } from "../ledger.ts";
import { createPostgresLedger, ledgers, type Store } from "../testing/backends.ts";
import { hashOf, leaseOf, OPERATOR } from "../testing/fixtures.ts";
import { withClock } from "../testing/withClock.ts";

describe.each(ledgers)("operators on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterEach(() => store.remove());

  it("a lease is renewed by its holder, refused to others and taken over when it has run out", async () => {
    let nowMs = 0;
    const clocked = await createLedger(withClock(store.database(), { nowMs: () => nowMs }));
    const acquire = (holder: string) => clocked.acquireLease(OPERATOR, holder, 1_000);
    const lease = (await acquire("daemon")) as Lease;
    nowMs = 100;
    expect(await acquire("daemon")).toEqual({ ...lease, untilMs: 1_100 });
    nowMs = 1_099;
    expect(await acquire("other")).toBeNull();
    nowMs = 1_100;
    const other = await acquire("other");
    expect(other?.token).toBe(lease.token + 1);
    await clocked.releaseLease(lease);
    nowMs = 1_200;
    expect(await acquire("daemon")).toBeNull();
    await clocked.releaseLease(other as Lease);
    expect((await acquire("daemon"))?.token).toBe(lease.token + 2);
    await clocked.close();
  });

  it("a lease lasts by the database's clock, which goes", async () => {
    const first = await ledger.acquireLease(OPERATOR, "daemon", 1);
    let taken: Lease | null = null;
    await expect.poll(async () => (taken ??= await ledger.acquireLease(OPERATOR, "other", 1))).not.toBeNull();
    expect(taken).toMatchObject({ token: (first?.token ?? 0) + 1 });
  });

  it("an operator is shown with who holds its lease, and with nobody once that was given back", async () => {
    expect(await ledger.listOperators()).toEqual([]);
    const lease = await leaseOf(ledger);
    const { operator, holder, untilMs } = lease;
    expect(await ledger.listOperators()).toEqual([
      { operator, holder, untilMs, nextNonce: 0, fence: 0, retired: false },
    ]);
    await ledger.releaseLease(lease);
    expect(await ledger.listOperators()).toMatchObject([{ operator, holder: null }]);
  });

  it("a halt keeps its first reason until it is lifted", async () => {
    expect(await ledger.readHalt()).toBeNull();
    await ledger.halt("drift in batch 7", 10, 0);
    await ledger.halt("another", 20, 0);
    expect(await ledger.readHalt()).toEqual({ reason: "drift in batch 7", sinceMs: 10 });
    // Somebody who has looked at another one has not looked at this one.
    await ledger.resume({ reason: "drift in batch 6", sinceMs: 10 });
    await ledger.resume({ reason: "drift in batch 7", sinceMs: 9 });
    expect(await ledger.readHalt()).not.toBeNull();
    await ledger.resume({ reason: "drift in batch 7", sinceMs: 10 });
    expect(await ledger.readHalt()).toBeNull();
  });

  it("nobody halts for what was seen before the last halt was lifted", async () => {
    const lease = await leaseOf(ledger);
    await ledger.noteFinalized({ number: 7n, hash: hashOf("7") });
    const { lifted } = await ledger.beginToLook();
    await ledger.halt("drift in batch 7", 10, lifted);
    await ledger.resume({ reason: "drift in batch 7", sinceMs: 10 });
    const late = [
      () => ledger.halt("drift in batch 7", 11, lifted),
      () => ledger.haltForForeignNonces(lease, 3, "nonce 2", 11, lifted),
      () => ledger.haltForUndoneBlock("block 7", { number: 6n, hash: hashOf("6") }, 11, lifted),
    ];
    for (const halt of late) await expect(halt()).rejects.toMatchObject({ code: "fenced" });
    expect(await ledger.readHalt()).toBeNull();
    expect(await ledger.readFinalized()).toEqual({ number: 7n, hash: hashOf("7") });
    expect(await ledger.listOperators()).toMatchObject([{ nextNonce: 0 }]);
    await ledger.halt("drift in batch 8", 12, (await ledger.beginToLook()).lifted);
    expect(await ledger.readHalt()).toEqual({ reason: "drift in batch 8", sinceMs: 12 });
  });
});

it("of two daemons that ask PostgreSQL for one operator's lease at once, one gets it", async () => {
  const store = await createPostgresLedger();
  const [one, two] = [await store.open(), await store.open()];
  const leases = await Promise.all([
    one.acquireLease(OPERATOR, "one", 60_000),
    two.acquireLease(OPERATOR, "two", 60_000),
  ]);
  expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
  await store.remove();
});
