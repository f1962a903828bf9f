import { afterEach, beforeEach, expect, it } from "vitest";
import type { ArchiveFolder } from "../../ledger/archive/folder.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgers, type Store } from "../../ledger/testing/backends.ts";
import { ALICE, leaseOf, outcomeOf, settled, turnOf } from "../../ledger/testing/fixtures.ts";
import { createMemoryFolder } from "../../ledger/testing/memoryFolder.ts";
import type { EngineContext, Failpoint } from "../context.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import { archive } from "./archive.ts";
import { restore } from "./restore.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const TURNS = 10;

let store: Store;
let ledger: Ledger;
let folder: ArchiveFolder & { files: Map<string, Buffer> };
beforeEach(async () => {
  const [sqlite] = ledgers;
  store = (await sqlite?.create()) as Store;
  folder = createMemoryFolder();
  ledger = await store.open({ archive: folder });
  for (let i = 0; i < TURNS; i++) await ledger.recordTurn(turnOf(`${i}`), DAY_MS);
  await settled(ledger, await leaseOf(ledger), [ALICE], outcomeOf(), DAY_MS);
});
afterEach(async () => {
  expect(await ledger.audit()).toEqual([]);
  await store.remove();
});

const contextAt = (nowMs: number, reached: (failpoint: Failpoint) => void = () => {}) =>
  ({
    ledger,
    clock: { nowMs: () => nowMs },
    policy: { ...DEFAULT_POLICY, archive: { afterMs: 30 * DAY_MS, limits: { chargesPerFile: 8, chargesPerBlock: 3 } } },
    reached,
  }) as unknown as EngineContext;

it("what is old enough leaves, and nothing before", async () => {
  expect(await archive(contextAt(31 * DAY_MS))).toMatchObject({ files: 0, charges: 0, held: null });
  expect(await archive(contextAt(31 * DAY_MS + 1))).toMatchObject({ files: 3, charges: 2 * TURNS, held: null });
  expect(await archive(contextAt(32 * DAY_MS))).toMatchObject({ files: 0, charges: 0 });
});

it("while settlement is halted nothing leaves: a person may have to compare it", async () => {
  await ledger.halt("the chain differs", 1, 0);
  expect(await archive(contextAt(99 * DAY_MS))).toMatchObject({ files: 0, held: "settlement is halted" });
  await ledger.resume({ reason: "the chain differs", sinceMs: 1 });
  expect(await archive(contextAt(99 * DAY_MS))).toMatchObject({ charges: 2 * TURNS, held: null });
});

it("killed after any step, the next run goes on, and everything is there once", async () => {
  const killed = new Error("killed");
  let lives = 0;
  for (; lives < 100; lives++) {
    let steps = 0;
    const dieEarly = () => {
      steps += 1;
      if (steps === 2) throw killed;
    };
    const done = await archive(contextAt(99 * DAY_MS, dieEarly)).catch((error) => error);
    expect(await ledger.audit()).toEqual([]);
    if (done !== killed) break;
  }
  expect(lives).toBeGreaterThan(3);
  const charges = (await ledger.listArchives(0, 100)).reduce((sum, one) => sum + one.charges, 0);
  expect(charges).toBe(2 * TURNS);
});

it("nothing leaves for a file that is not what was written", async () => {
  const damage = (failpoint: Failpoint) => {
    if (failpoint !== "after_archive_written") return;
    for (const [name, bytes] of folder.files) folder.files.set(name, bytes.subarray(1));
  };
  await expect(archive(contextAt(99 * DAY_MS, damage))).rejects.toMatchObject({ code: "archive_unavailable" });
  expect(await ledger.listChargesOf({ turnId: "1" })).toHaveLength(2);
  // It is written again by the next run.
  expect(await archive(contextAt(99 * DAY_MS))).toMatchObject({ charges: 2 * TURNS });
});

it("a restore that was begun keeps the archive from running, and ends when it is asked for again", async () => {
  await archive(contextAt(99 * DAY_MS));
  await ledger.startRestore(2);
  await ledger.restoreArchived(2);
  expect(await archive(contextAt(99 * DAY_MS))).toMatchObject({ held: expect.stringContaining("is being restored") });
  await expect(restore(contextAt(0), 1)).rejects.toThrow("archive 2 is being moved or restored");
  await restore(contextAt(0), 2);
  expect(await ledger.findArchive(2)).toBeNull();
  await expect(restore(contextAt(0), 2)).rejects.toThrow("there is no archive 2");
});
