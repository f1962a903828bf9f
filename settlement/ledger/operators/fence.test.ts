import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fillerOf } from "../../domain/batch/submission.ts";
import { copySqlite } from "../database/sqlite/copySqlite.ts";
import type { Ledger } from "../ledger.ts";
import { openLedger } from "../openLedger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import {
  ALICE,
  accountOf,
  inclusionAt,
  leaseOf,
  OPERATOR,
  outcomeOf,
  planned,
  RETRY,
  submitted,
  turnOf,
} from "../testing/fixtures.ts";

describe.each(ledgers)("where a ledger is, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    await store.remove();
  });

  const fences = async () => (await ledger.listOperators()).map(({ fence }) => fence);

  // As if it were brought here from there.
  const moveFrom = async (there: string): Promise<void> => {
    const database = store.database();
    await database.transaction(async (sql) => void (await sql.run("UPDATE homes SET home = $1", [there])), {
      repeatable: false,
    });
    await database.close();
  };

  it("is the same for as long as nobody moves it", async () => {
    await leaseOf(ledger);
    expect(await ledger.noteHome()).toMatchObject({ kind: "same" });
    expect(await ledger.noteHome()).toMatchObject({ kind: "same" });
    expect(await fences()).toEqual([0]);
  });

  it("is said with the time there, if that is another clock than ours", async () => {
    const { nowMs } = await ledger.noteHome();
    if (store.location.startsWith("postgres")) expect(nowMs).toBeGreaterThan(1_700_000_000_000);
    else expect(nowMs).toBeNull();
  });

  it("is another place for a copy: then all keys are fenced off, once, and those that come later too", async () => {
    await leaseOf(ledger);
    await ledger.noteHome();
    await moveFrom("there");
    expect(await ledger.noteHome()).toMatchObject({ kind: "moved", from: "there" });
    expect(await fences()).toEqual([-1]);
    const lease = await leaseOf(ledger);
    await ledger.setFence(lease, 7, 3);
    await ledger.setFence(lease, 6, 2);
    expect(await ledger.noteHome()).toMatchObject({ kind: "same" });
    expect(await fences()).toEqual([7]);
    expect(await ledger.listOperators()).toMatchObject([{ nextNonce: 3 }]);
    // More was mined than it was set for.
    await ledger.setFence(lease, 9, 5);
    expect(await fences()).toEqual([9]);
    expect(await ledger.listOperators()).toMatchObject([{ nextNonce: 5 }]);
    await leaseOf(ledger, accountOf(0xfff));
    expect(await fences()).toEqual([9, -1]);
    // A fence that was meant for another reach stays.
    await ledger.removeFence(lease, 8);
    await ledger.removeFence(lease, 9);
    expect(await fences()).toEqual([0, -1]);
    // What is not fenced off stays so.
    await ledger.setFence(lease, 12, 5);
    expect(await fences()).toEqual([0, -1]);
  });

  it("changes in the middle of a tick: then nobody writes with a lease of before, noticed or not", async () => {
    const lease = await leaseOf(ledger);
    await ledger.noteHome();
    await ledger.recordTurn(turnOf("a"), 1);
    await moveFrom("there");
    await expect(planned(ledger, lease, [ALICE], 2)).rejects.toMatchObject({ code: "fenced" });
    await ledger.noteHome();
    await expect(ledger.setRowBound(lease, 3)).rejects.toMatchObject({ code: "fenced" });
    // And with a new one nothing is planned until the fences are gone.
    const renewed = await leaseOf(ledger);
    await expect(planned(ledger, renewed, [ALICE], 2)).rejects.toMatchObject({ code: "fenced" });
    await ledger.setFence(renewed, 4, 0);
    await ledger.removeFence(renewed, 4);
    expect(await planned(ledger, renewed, [ALICE], 2)).not.toBeNull();
  });

  it("is another one if a person says so, who knows of a snapshot that nothing shows", async () => {
    await leaseOf(ledger);
    await ledger.noteHome();
    await ledger.fenceOff();
    expect(await ledger.noteHome()).toMatchObject({ kind: "same" });
    await leaseOf(ledger, accountOf(0xfff));
    expect(await fences()).toEqual([-1, -1]);
  });

  it("nothing is planned in a transaction that finds a halt", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("a"), 1);
    await ledger.halt("somebody has the key", 2, 0);
    await expect(planned(ledger, lease, [ALICE], 3)).rejects.toMatchObject({ code: "fenced" });
  });

  it("is another place for rows that were brought back from a dump into where they were", async () => {
    await leaseOf(ledger);
    await ledger.noteHome();
    const database = store.database();
    const rewrite = (text: string) =>
      database.transaction(async (sql) => void (await sql.all(text)), { repeatable: false });
    await rewrite("CREATE TABLE dump AS SELECT * FROM homes");
    await rewrite("DELETE FROM homes");
    await rewrite("INSERT INTO homes SELECT * FROM dump");
    await rewrite("DROP TABLE dump");
    await database.close();
    // A file is known by itself, and what `backup` has copied by its mark.
    const kind = store.location.startsWith("postgres") ? "moved" : "same";
    expect(await ledger.noteHome()).toMatchObject({ kind });
    expect(await fences()).toEqual([kind === "moved" ? -1 : 0]);
    expect(await ledger.noteHome()).toMatchObject({ kind: "same" });
  });

  it("a filler takes the nonce of what was abandoned on it, and of nothing else", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("a"), 1);
    const batchId = await submitted(ledger, lease, [ALICE], 2);
    const nonce = (await ledger.findSubmission(batchId))?.nonce ?? 0;
    const filler = { ...fillerOf(OPERATOR, nonce), nonce };
    expect((await ledger.planFiller(lease, filler, 3)).id).toBe(batchId);
    await ledger.abandon(lease, batchId, 4);
    expect(await ledger.planFiller(lease, filler, 5)).toMatchObject({ kind: "filler", nonce });
    expect((await ledger.findSubmission(batchId))?.nonce).toBeNull();
  });

  it("a filler takes the nonce of a batch that is final by a transaction which this ledger never signed", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("a"), 1);
    const batchId = await submitted(ledger, lease, [ALICE], 2);
    const { nonce, broadcasts } = (await ledger.findSubmission(batchId)) ?? { nonce: null, broadcasts: [] };
    const filler = { ...fillerOf(OPERATOR, nonce ?? 0), nonce: nonce ?? 0 };
    const own = { ...inclusionAt(5n), txHash: broadcasts[0]?.txHash ?? "0x" };
    await ledger.recordInclusion(lease, batchId, own, "success", outcomeOf());
    await ledger.finalize(lease, batchId, outcomeOf(), RETRY, 10);
    // Its own bytes have spent it.
    expect((await ledger.planFiller(lease, filler, 11)).id).toBe(batchId);
    await ledger.reopen(batchId, 12);
    const renewed = await leaseOf(ledger);
    await ledger.recordInclusion(renewed, batchId, inclusionAt(6n), "success", outcomeOf());
    expect((await ledger.planFiller(renewed, filler, 13)).id).toBe(batchId);
    await ledger.finalize(renewed, batchId, outcomeOf(), RETRY, 14);
    expect(await ledger.planFiller(renewed, filler, 15)).toMatchObject({ kind: "filler", nonce });
    expect(await ledger.findSubmission(batchId)).toMatchObject({ nonce: null, state: { kind: "final" } });
  });

  it("a filler that was abandoned fills its nonce after all when the chain has undone what had spent it", async () => {
    const lease = await leaseOf(ledger);
    const filler = { ...fillerOf(OPERATOR, 0), nonce: 0 };
    const { id } = await ledger.planFiller(lease, filler, 1);
    await ledger.abandon(lease, id, 2);
    expect(await ledger.planFiller(lease, filler, 3)).toMatchObject({ id, nonce: 0, state: { kind: "planned" } });
  });
});

it.each([
  { how: "copied and put in its place", copy: copyFileSync, bring: renameSync },
  { how: "backed up and put in its place", copy: copySqlite, bring: renameSync },
  // The file is the one that it was, with other bytes.
  { how: "backed up and written over it", copy: copySqlite, bring: copyFileSync },
])("a file that was $how is another home", async ({ copy, bring }) => {
  const folder = mkdtempSync(join(tmpdir(), "home-"));
  const [path, target] = [join(folder, "ledger.db"), join(folder, "copy.db")];
  try {
    const first = await openLedger(path);
    expect(await first.noteHome()).toMatchObject({ kind: "same" });
    await first.close();
    copy(path, target);
    const opened = await openLedger(path);
    expect(await opened.noteHome()).toMatchObject({ kind: "same" });
    await opened.close();

    bring(target, path);
    const restored = await openLedger(path);
    const check = await restored.noteHome();
    expect(check).toMatchObject({ kind: "moved", from: expect.stringMatching(/^(a copy of )?file /) });
    expect(await restored.noteHome()).toMatchObject({ kind: "same" });
    await restored.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it("a copy that was made before anybody had looked is another home as well", async () => {
  const folder = mkdtempSync(join(tmpdir(), "home-"));
  const [path, target] = [join(folder, "ledger.db"), join(folder, "copy.db")];
  try {
    await (await openLedger(path)).close();
    copySqlite(path, target);
    const restored = await openLedger(target);
    expect(await restored.noteHome()).toMatchObject({ kind: "moved" });
    await restored.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
