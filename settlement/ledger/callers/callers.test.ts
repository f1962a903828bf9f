import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import { hashOf } from "../testing/fixtures.ts";

describe.each(ledgers)("callers on $name", ({ create }) => {
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

  it("a key is claimed once until its claim is old, and the first answer stays", async () => {
    const claim = { caller: "alice", key: "k", digest: hashOf("request") };
    expect(await ledger.claimKey(claim, 1, 10)).toEqual({ kind: "claimed", atMs: 1 });
    expect(await ledger.claimKey(claim, 10, 10)).toEqual({ kind: "running" });
    expect(await ledger.claimKey(claim, 11, 10)).toEqual({ kind: "claimed", atMs: 11 });
    expect(await ledger.claimKey(claim, 12, 10)).toEqual({ kind: "running" });
    const first = { status: 201, body: "{}" };
    expect(await ledger.saveAnswer("alice", "k", first)).toEqual(first);
    expect(await ledger.saveAnswer("alice", "k", { status: 500, body: "later" })).toEqual(first);
    expect(await ledger.claimKey(claim, 99, 10)).toEqual({ kind: "answered", answer: first });
  });

  it("a key that was released can be claimed by any request, unless its claim was taken over or answered", async () => {
    const claim = { caller: "alice", key: "k", digest: hashOf("request") };
    await ledger.claimKey(claim, 1, 10);
    await ledger.claimKey(claim, 11, 10);
    await ledger.releaseKey("alice", "k", 1);
    expect(await ledger.claimKey(claim, 12, 10)).toEqual({ kind: "running" });
    await ledger.releaseKey("alice", "k", 11);
    const other = { ...claim, digest: hashOf("other") };
    expect(await ledger.claimKey(other, 13, 10)).toEqual({ kind: "claimed", atMs: 13 });
    await ledger.saveAnswer("alice", "k", { status: 200, body: "{}" });
    await ledger.releaseKey("alice", "k", 13);
    expect(await ledger.claimKey(other, 14, 10)).toMatchObject({ kind: "answered" });
  });

  it("answers are forgotten from the oldest on, a few at a time, and their keys are free again", async () => {
    for (const [i, key] of ["a", "b", "c", "d"].entries()) {
      await ledger.claimKey({ caller: "alice", key, digest: hashOf(key) }, 10 + i, 10);
      await ledger.saveAnswer("alice", key, { status: 200, body: key });
    }
    expect(await ledger.forgetAnswers(13, 2)).toBe(2);
    expect(await ledger.forgetAnswers(13, 2)).toBe(1);
    expect(await ledger.forgetAnswers(13, 2)).toBe(0);
    const claim = (key: string) => ledger.claimKey({ caller: "alice", key, digest: hashOf("another") }, 99, 10);
    expect(await claim("a")).toMatchObject({ kind: "claimed" });
    expect(await claim("d")).toEqual({ kind: "conflict" });
  });

  it("a key with another request is a conflict, and another caller's key is another key", async () => {
    const claim = { caller: "alice", key: "k", digest: hashOf("request") };
    await ledger.claimKey(claim, 1, 10);
    expect(await ledger.claimKey({ ...claim, digest: hashOf("other") }, 2, 10)).toEqual({ kind: "conflict" });
    const ofBob = { ...claim, caller: "bob", digest: hashOf("other") };
    expect(await ledger.claimKey(ofBob, 2, 10)).toMatchObject({ kind: "claimed" });
  });
});
