import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fillerOf } from "../../domain/submission.ts";
import { copySqlite } from "../database/copySqlite.ts";
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

  it("is the same for as long as nobody moves it", async () => {
    const home = await ledger.readHome();
    await leaseOf(ledger);
    expect(await ledger.noteHome(home)).toMatchObject({ kind: "same" });
    expect(await ledger.noteHome(await ledger.readHome())).toMatchObject({ kind: "same" });
    expect(await fences()).toEqual([0]);
  });

  it("is said with the time there, if that is another clock than ours", async () => {
    const { nowMs } = await ledger.noteHome("here");
    if (store.location.startsWith("postgres")) expect(nowMs).toBeGreaterThan(1_700_000_000_000);
    else expect(nowMs).toBeNull();
  });

  it("is another place for a copy: then all keys are fenced off, once, and those that come later too", async () => {
    const lease = await leaseOf(ledger);
    await ledger.noteHome("here");
    expect(await ledger.noteHome("there")).toMatchObject({ kind: "moved", from: "here" });
    expect(await fences()).toEqual([-1]);
    await ledger.setFence(lease, 7, 3);
    await ledger.setFence(lease, 9, 5);
    expect(await ledger.noteHome("there")).toMatchObject({ kind: "same" });
    expect(await fences()).toEqual([7]);
    expect(await ledger.listOperators()).toMatchObject([{ nextNonce: 3 }]);
    await leaseOf(ledger, accountOf(0xfff));
    expect(await fences()).toEqual([7, -1]);
    // A fence that was meant for another reach stays.
    await ledger.removeFence(lease, 6);
    await ledger.removeFence(lease, 7);
    expect(await fences()).toEqual([0, -1]);
  });

  it("a filler takes the nonce of what was abandoned on it, and of nothing else", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("a"), 1);
    const root = await submitted(ledger, lease, [ALICE], 2);
    const nonce = (await ledger.findSubmission(root))?.nonce ?? 0;
    const filler = { ...fillerOf(OPERATOR, nonce), nonce };
    expect((await ledger.planFiller(lease, filler, 3)).id).toBe(root);
    await ledger.abandon(lease, root, 4);
    expect(await ledger.planFiller(lease, filler, 5)).toMatchObject({ kind: "filler", nonce });
    expect((await ledger.findSubmission(root))?.nonce).toBeNull();
  });

  it("a filler takes the nonce of a batch that is final by a transaction which this ledger never signed", async () => {
    const lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("a"), 1);
    const root = await submitted(ledger, lease, [ALICE], 2);
    const { nonce, broadcasts } = (await ledger.findSubmission(root)) ?? { nonce: null, broadcasts: [] };
    const filler = { ...fillerOf(OPERATOR, nonce ?? 0), nonce: nonce ?? 0 };
    const own = { ...inclusionAt(5n), txHash: broadcasts[0]?.txHash ?? "0x" };
    await ledger.recordInclusion(lease, root, own, "success", outcomeOf());
    await ledger.finalize(lease, root, outcomeOf(), RETRY, 10);
    // Its own bytes have spent it.
    expect((await ledger.planFiller(lease, filler, 11)).id).toBe(root);
    await ledger.reopen(root, 12);
    const renewed = await leaseOf(ledger);
    await ledger.recordInclusion(renewed, root, inclusionAt(6n), "success", outcomeOf());
    expect((await ledger.planFiller(renewed, filler, 13)).id).toBe(root);
    await ledger.finalize(renewed, root, outcomeOf(), RETRY, 14);
    expect(await ledger.planFiller(renewed, filler, 15)).toMatchObject({ kind: "filler", nonce });
    expect(await ledger.findSubmission(root)).toMatchObject({ nonce: null, state: { kind: "final" } });
  });

  it("a filler that was abandoned fills its nonce after all when the chain has undone what had spent it", async () => {
    const lease = await leaseOf(ledger);
    const filler = { ...fillerOf(OPERATOR, 0), nonce: 0 };
    const { id } = await ledger.planFiller(lease, filler, 1);
    await ledger.abandon(lease, id, 2);
    expect(await ledger.planFiller(lease, filler, 3)).toMatchObject({ id, nonce: 0, state: { kind: "planned" } });
  });
});

it.each(["copied", "backed up"])("a file that was %s and put in its place is another home", async (how) => {
  const folder = mkdtempSync(join(tmpdir(), "home-"));
  const [path, copy] = [join(folder, "ledger.db"), join(folder, "copy.db")];
  try {
    const first = await openLedger(path);
    const home = await first.readHome();
    expect(await first.noteHome(home)).toMatchObject({ kind: "same" });
    await first.close();
    if (how === "copied") copyFileSync(path, copy);
    else copySqlite(path, copy);
    const opened = await openLedger(path);
    expect(await opened.readHome()).toBe(home);
    await opened.close();

    renameSync(copy, path);
    const restored = await openLedger(path);
    expect(await restored.noteHome(await restored.readHome())).toMatchObject({ kind: "moved", from: home });
    await restored.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
