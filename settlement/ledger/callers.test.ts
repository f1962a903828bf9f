import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Lease, Ledger } from "./ledger.ts";
import { backends, type Store } from "./testing/backends.ts";
import {
  ALICE,
  accountOf,
  BOB,
  hashOf,
  leaseOf,
  outcomeOf,
  settled,
  toolOf,
  turnOf,
  usdc,
} from "./testing/fixtures.ts";

const DEVELOPER = accountOf(0xde7);
const ALL = { fromMs: 0, toMs: 1_000_000, after: null, limit: 100 };

describe.each(backends)("callers and statements on $name", ({ create }) => {
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

  const keyOf = (id: string, payer = ALICE) => ({ id, hash: hashOf(id), payer, label: "agent" });

  it("an API key is found by its hash, and still is once it is revoked", async () => {
    expect(await ledger.createApiKey(keyOf("one"), 5)).toMatchObject({
      kind: "created",
      apiKey: { revokedAtMs: null },
    });
    expect(await ledger.apiKeyByHash(hashOf("one"))).toMatchObject({ id: "one", payer: ALICE, createdAtMs: 5 });
    expect(await ledger.apiKeyByHash(hashOf("two"))).toBeNull();
    await ledger.revokeApiKey("one", 7);
    expect(await ledger.revokeApiKey("one", 9)).toMatchObject({ revokedAtMs: 7 });
    expect(await ledger.apiKeyByHash(hashOf("one"))).toMatchObject({ revokedAtMs: 7 });
    expect(await ledger.revokeApiKey("two", 9)).toBeNull();
  });

  it("the same API key again is a duplicate, and a conflict for another payer", async () => {
    await ledger.createApiKey(keyOf("one"), 5);
    const again = { ...keyOf("one"), hash: hashOf("another") };
    expect(await ledger.createApiKey(again, 6)).toMatchObject({ kind: "duplicate", apiKey: { createdAtMs: 5 } });
    expect(await ledger.apiKeyByHash(hashOf("another"))).toBeNull();
    expect(await ledger.createApiKey(keyOf("one", BOB), 6)).toEqual({ kind: "conflict" });
  });

  it("API keys are listed oldest first, of all payers or of one", async () => {
    await ledger.createApiKey(keyOf("b"), 2);
    await ledger.createApiKey(keyOf("a", BOB), 1);
    expect((await ledger.apiKeys(null, 10, 0)).map(({ id }) => id)).toEqual(["a", "b"]);
    expect((await ledger.apiKeys(ALICE, 10, 0)).map(({ id }) => id)).toEqual(["b"]);
    expect((await ledger.apiKeys(null, 10, 1)).map(({ id }) => id)).toEqual(["b"]);
  });

  it("a key that was claimed and not answered can be claimed again, and the first answer stays", async () => {
    const claim = { caller: "alice", key: "k", digest: hashOf("request") };
    expect(await ledger.claimKey(claim, 1)).toEqual({ kind: "claimed" });
    expect(await ledger.claimKey(claim, 2)).toEqual({ kind: "claimed" });
    const first = { status: 201, body: "{}" };
    expect(await ledger.saveAnswer("alice", "k", first)).toEqual(first);
    expect(await ledger.saveAnswer("alice", "k", { status: 500, body: "later" })).toEqual(first);
    expect(await ledger.claimKey(claim, 3)).toEqual({ kind: "answered", answer: first });
  });

  it("a key with another request is a conflict, and another caller's key is another key", async () => {
    const claim = { caller: "alice", key: "k", digest: hashOf("request") };
    await ledger.claimKey(claim, 1);
    expect(await ledger.claimKey({ ...claim, digest: hashOf("other") }, 2)).toEqual({ kind: "conflict" });
    expect(await ledger.claimKey({ ...claim, caller: "bob", digest: hashOf("other") }, 2)).toEqual({ kind: "claimed" });
  });

  it("a payer's charges come in pages, oldest first, without gaps or repeats, and without anybody else's", async () => {
    for (let n = 0; n < 5; n++) await ledger.recordTurn(turnOf(`t${n}`), 10 + Math.floor(n / 2));
    await ledger.recordTurn(turnOf("bob", { payer: BOB }), 10);
    const all = await ledger.chargesOfPayer(ALICE, ALL);
    expect(all).toHaveLength(10);
    const seen: string[] = [];
    let after = null;
    for (let page = 0; page < 4; page++) {
      const charges = await ledger.chargesOfPayer(ALICE, { ...ALL, after, limit: 3 });
      seen.push(...charges.map(({ id }) => id));
      const last = charges.at(-1);
      if (last) after = { atMs: last.accruedAtMs, id: last.id };
    }
    expect(seen).toEqual(all.map(({ id }) => id));
    expect(await ledger.chargesOfPayer(ALICE, { ...ALL, fromMs: 11, toMs: 12 })).toHaveLength(4);
  });

  it("a final batch is in its payee's statement and in its tool's earnings, once", async () => {
    const lease: Lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("t"), 10);
    const paid = [{ toolId: toolOf(1), payee: DEVELOPER, amount: usdc(100_000), developerShare: usdc(90_000) }];
    const root = await settled(ledger, lease, [ALICE], outcomeOf({ charged: usdc(120_000), paid }), 20);
    const earning = { root, payee: DEVELOPER, toolId: toolOf(1), amount: 100_000n, developerShare: 90_000n };
    expect(await ledger.earningsOf(DEVELOPER, ALL)).toMatchObject([{ ...earning, settledAtMs: 20 }]);
    expect(await ledger.earningsOf(DEVELOPER, { ...ALL, after: { atMs: 20, id: root + toolOf(1).slice(2) } })).toEqual(
      [],
    );
    expect(await ledger.earningsOf(ALICE, ALL)).toEqual([]);
    const earnings = { toolId: toolOf(1), batches: 1, amount: 100_000n, developerShare: 90_000n };
    expect(await ledger.earningsByTool(10, 0)).toEqual([earnings]);
    expect(await ledger.earningsOfTool(toolOf(1))).toEqual(earnings);
    expect(await ledger.earningsOfTool(toolOf(2))).toBeNull();
  });

  it("gauges count what is on its way and nothing that has come to its end", async () => {
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000 }, 0);
    await ledger.hold({ callId: "c", sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(7) }, 3);
    await ledger.recordTurn(turnOf("t"), 10);
    expect(await ledger.gauges()).toEqual({
      failures: [],
      accrued: { count: 2, amount: 120_000n, oldestDueAtMs: 10 },
      openSessions: 1,
      holds: { count: 1, amount: 7n, oldestHeldAtMs: 3 },
      submissions: [],
      debt: 0n,
    });
    const lease = await leaseOf(ledger);
    const failed = [{ chargedTo: ALICE, amount: usdc(120_000), reason: "balance" as const }];
    await settled(ledger, lease, [ALICE], outcomeOf({ failed }), 20);
    expect(await ledger.gauges()).toMatchObject({ failures: [{ reason: "balance", count: 2 }], accrued: { count: 2 } });
    await settled(ledger, lease, [ALICE], outcomeOf({ charged: usdc(120_000) }), 10_000);
    expect(await ledger.gauges()).toMatchObject({ accrued: { count: 0, oldestDueAtMs: null }, submissions: [] });
    expect(await ledger.sessionsOfPayer(ALICE, 10, 0)).toMatchObject([{ id: "s" }]);
    expect(await ledger.call("c")).toMatchObject({ callId: "c", state: { kind: "held" } });
    expect(await ledger.payersByExposure(10, 0)).toMatchObject([{ payer: ALICE, pending: 0n, held: 7n }]);
  });

  it("charges come newest first, of all payers or of one, in pages without gaps or repeats", async () => {
    for (let i = 0; i < 7; i++) {
      await ledger.recordTurn(turnOf(`turn-${i}`, { payer: i % 2 === 0 ? ALICE : BOB }), 10 + Math.floor(i / 3));
    }
    const all = await ledger.newestCharges(null, null, 100);
    expect(all).toHaveLength(14);
    const order = all.map(({ accruedAtMs, id }) => `${accruedAtMs} ${id}`);
    expect(order).toEqual([...order].sort().reverse());
    const walked: string[] = [];
    let before: { atMs: number; id: string } | null = null;
    for (let page = 0; page < 10; page++) {
      const charges: Awaited<ReturnType<Ledger["newestCharges"]>> = await ledger.newestCharges(null, before, 4);
      walked.push(...charges.map(({ id }) => id));
      const last = charges.at(-1);
      if (last === undefined) break;
      before = { atMs: last.accruedAtMs, id: last.id };
    }
    expect(walked).toEqual(all.map(({ id }) => id));
    const bobs = await ledger.newestCharges(BOB, null, 100);
    expect(bobs.map(({ payer }) => payer)).toEqual(Array.from({ length: 6 }, () => BOB));
  });

  it("sessions of all payers come newest first", async () => {
    for (const [i, payer] of [ALICE, BOB, ALICE].entries()) {
      await ledger.openSession({ id: `s${i}`, payer, maxSpend: usdc(1), expiresAtMs: 1_000 }, i);
    }
    expect((await ledger.newestSessions(10, 0)).map(({ id }) => id)).toEqual(["s2", "s1", "s0"]);
    expect((await ledger.newestSessions(1, 1)).map(({ id }) => id)).toEqual(["s1"]);
  });

  it("an operator is shown with who holds its lease, and with nobody once that was given back", async () => {
    expect(await ledger.operators()).toEqual([]);
    const lease = await leaseOf(ledger);
    const { operator, holder, untilMs } = lease;
    expect(await ledger.operators()).toEqual([{ operator, holder, untilMs, nextNonce: 0 }]);
    await ledger.releaseLease(lease);
    expect(await ledger.operators()).toMatchObject([{ operator, holder: null }]);
  });
});
