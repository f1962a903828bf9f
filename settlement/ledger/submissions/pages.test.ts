import { statSync } from "node:fs";
import type { Hex } from "viem";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Lease, Ledger } from "../ledger.ts";
import { createSqliteStore, type Store } from "../testing/backends.ts";
import {
  ALICE,
  inclusionAt,
  leaseOf,
  outcomeOf,
  planned,
  RETRY,
  submitted,
  turnOf,
  usdc,
} from "../testing/fixtures.ts";
import { SEGMENT_CHARGES } from "./plan/fillSegment.ts";

// While pages are written nobody else is served.

let store: Store;
let ledger: Ledger;
let lease: Lease;
beforeEach(async () => {
  store = await createSqliteStore();
  ledger = await store.open();
  lease = await leaseOf(ledger);
});
afterEach(() => store.remove());

// What the log of the ledger grows by.
async function bytesOf(work: () => Promise<unknown>): Promise<number> {
  const size = () => statSync(`${store.location}-wal`).size;
  const before = size();
  await work();
  return size() - before;
}

const record = (from: number, count: number) =>
  ledger.recordTurns(
    Array.from({ length: count }, (_, n) => ({ turn: turnOf(`${from + n}`) })),
    1,
  );

it("a batch writes no more pages behind a long history than behind a short one", async () => {
  let turns = 0;
  // Of a batch of 200 turns in a segment of its own, behind so many others.
  const bytesBehind = async (history: number) => {
    for (; turns < history; turns += 500) {
      await record(turns, 500);
      await planned(ledger, lease, [ALICE], 1);
    }
    const database = store.database();
    await database.transaction(async (sql) => sql.run("UPDATE operators SET segment_charges = $1", [SEGMENT_CHARGES]), {
      repeatable: true,
    });
    await database.close();
    await record(turns, 200);
    turns += 200;
    return bytesOf(() => planned(ledger, lease, [ALICE], 1));
  };
  const short = await bytesBehind(500);
  expect(short).toBeGreaterThan(0);
  expect(await bytesBehind(10_000)).toBeLessThan(1.4 * short);
});

it("what comes of a batch is written without its receipts", async () => {
  await record(0, 500);
  const outcome = outcomeOf({ charged: usdc(60_000_000) });
  let batchId: Hex = "0x";
  const planning = await bytesOf(async () => {
    batchId = await submitted(ledger, lease, [ALICE], 1);
  });
  const ending = await bytesOf(async () => {
    await ledger.recordInclusion(lease, batchId, inclusionAt(1n), "success", outcome);
    await ledger.finalize(lease, batchId, outcome, RETRY, 2);
  });
  expect(await ledger.listReceipts(batchId)).toHaveLength(1_000);
  expect(ending).toBeLessThan(planning / 3);
});
