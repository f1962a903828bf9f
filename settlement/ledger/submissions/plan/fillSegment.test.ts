import type { Hex } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chargeIdOf } from "../../../domain/charges/charge.ts";
import type { Lease, Ledger } from "../../ledger.ts";
import { ledgers, type Store } from "../../testing/backends.ts";
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
