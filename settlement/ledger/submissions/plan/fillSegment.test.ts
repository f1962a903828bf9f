import { statSync } from "node:fs";
import type { Hex } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chargeIdOf } from "../../../domain/charges/charge.ts";
import type { Lease, Ledger } from "../../ledger.ts";
import { createSqliteStore, ledgers, type Store } from "../../testing/backends.ts";
import { ALICE, leaseOf, planned, turnOf } from "../../testing/fixtures.ts";
import { SEGMENT_CHARGES } from "./fillSegment.ts";

const modelOf = (turnId: string): Hex => chargeIdOf({ kind: "turn", turnId }, { kind: "model" });

async function change(store: Store, text: string, params: readonly number[] = []): Promise<void> {
  const database = store.database();
  await database.transaction(async (sql) => sql.run(text, params), { repeatable: true });
  await database.close();
}

const fillUp = (store: Store) => change(store, "UPDATE operators SET segment_charges = $1", [SEGMENT_CHARGES]);

describe.each(ledgers)("segments of the index of ids on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let lease: Lease;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    lease = await leaseOf(ledger);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    await store.remove();
  });

  it("a charge is found by its id in whichever segment it is, and what is in none is not found", async () => {
    const turns = Array.from({ length: 150 }, (_, n) => ({ turn: turnOf(`${n}`) }));
    await ledger.recordTurns(turns, 1);
    await planned(ledger, lease, [ALICE], 1);
    // Each segment has two turns at the most, and between some of them there is none.
    await change(store, "UPDATE charges SET segment = CAST(turn_id AS INTEGER) / 2 * 3");
    for (const n of ["0", "1", "2", "75", "128", "148", "149"]) {
      expect(await ledger.findCharge(modelOf(n))).toMatchObject({ source: { turnId: n }, state: { kind: "batched" } });
    }
    expect(await ledger.findCharge(modelOf("150"))).toBeNull();
  });

  it("a charge that was given up is found before and after it gets into a batch of a later segment", async () => {
    await ledger.recordTurn(turnOf("a"), 1);
    const first = await planned(ledger, lease, [ALICE], 1);
    await ledger.unplanBatch(lease, first?.id ?? "0x", [], 0, 1);
    expect(await ledger.findCharge(modelOf("a"))).toMatchObject({ state: { kind: "accrued" } });
    await fillUp(store);
    await planned(ledger, lease, [ALICE], 2);
    expect(await ledger.findCharge(modelOf("a"))).toMatchObject({ state: { kind: "batched" } });
  });
});

// How many bytes of the log the last batch of the same turns took, behind so many others.
async function bytesBehind(turns: number): Promise<number> {
  const store = await createSqliteStore();
  try {
    const ledger = await store.open();
    const lease = await leaseOf(ledger);
    const record = (from: number, count: number) =>
      ledger.recordTurns(
        Array.from({ length: count }, (_, n) => ({ turn: turnOf(`${from + n}`) })),
        1,
      );
    for (let from = 0; from < turns; from += 500) {
      await record(from, 500);
      await planned(ledger, lease, [ALICE], 1);
    }
    await fillUp(store);
    await record(turns, 200);
    const before = statSync(`${store.location}-wal`).size;
    await planned(ledger, lease, [ALICE], 1);
    const after = statSync(`${store.location}-wal`).size;
    await ledger.close();
    return after - before;
  } finally {
    await store.remove();
  }
}

it("a batch writes no more pages behind a long history than behind a short one", async () => {
  const [long, short] = [await bytesBehind(10_000), await bytesBehind(500)];
  expect(short).toBeGreaterThan(0);
  expect(long).toBeLessThan(1.2 * short);
});
