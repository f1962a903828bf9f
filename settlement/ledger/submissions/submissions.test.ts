import type { Hex } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Net } from "../../domain/batch/batch.ts";
import { type DueCharge, NO_HASHES } from "../../domain/charges/charge.ts";
import type { Lease, Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import {
  ALICE,
  accountOf,
  BOB,
  HASHES,
  hashOf,
  INSURANCE,
  inclusionAt,
  leaseOf,
  netOf,
  OPERATOR,
  outcomeOf,
  POLICY,
  planned,
  RETRY,
  RICH,
  ROUTER,
  settled,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../testing/fixtures.ts";

const failing = (chargedTo = ALICE) => outcomeOf({ failed: [{ chargedTo, amount: usdc(0), reason: "balance" }] });

describe.each(ledgers)("submissions on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let lease: Lease;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("alice"), 10);
    await ledger.recordTurn(turnOf("bob", { payer: BOB }), 5);
  });
  afterEach(async () => {
    expect(await ledger.audit()).toEqual([]);
    const { accrued, pending, settled, absorbed, refused, voided } = await ledger.readTotals();
    expect(pending + settled + absorbed + refused + voided).toBe(accrued);
    await store.remove();
  });

  const pendingOf = async (payer = ALICE) => (await ledger.readExposures([payer]))[0]?.pending;
  const debtOf = async (payer = ALICE) => (await ledger.readExposures([payer]))[0]?.debt;
  const statesOf = async (turnId: string) => (await ledger.listChargesOf({ turnId })).map(({ state }) => state.kind);

  it("a batch of thousands that is taken apart is due again to the last charge, and others run meanwhile", async () => {
    const turns = Array.from({ length: 1_200 }, (_, n) => ({ turn: turnOf(`many ${n}`) }));
    for (let from = 0; from < turns.length; from += 400) await ledger.recordTurns(turns.slice(from, from + 400), 1);
    const request = { accounts: [ALICE], maxCharges: 10_000, router: ROUTER, net: netOf(), retry: RETRY };
    const batch = await ledger.planBatch(lease, request, 1);
    let [looks, stopped] = [0, false];
    const look = () => {
      looks += 1;
      if (!stopped) setImmediate(look);
    };
    setImmediate(look);
    await ledger.unplanBatch(lease, batch?.id ?? "0x", [], 0, 2);
    stopped = true;
    expect(looks).toBeGreaterThan(1);
    expect(await ledger.listDuePayers(2, 10)).toMatchObject([{ charges: 2_402, oldestDueAtMs: 2 }]);
  });

  it("charges that no batch can have now are due later, and out of the way of those who have waited less long", async () => {
    const seen: DueCharge[] = [];
    const net: Net = (charges) => {
      seen.push(...charges);
      return { batch: null, unpayable: [] };
    };
    const request = { accounts: [BOB], maxCharges: 10, router: ROUTER, net, retry: RETRY };
    expect(await ledger.planBatch(lease, request, 20)).toBeNull();
    expect((await ledger.listDuePayers(20, 1)).map(({ chargedTo }) => chargedTo)).toEqual([BOB]);
    await ledger.postponeCharges(lease, seen, 500);
    expect((await ledger.listDuePayers(20, 1)).map(({ chargedTo }) => chargedTo)).toEqual([ALICE]);
    expect((await ledger.listDuePayers(500, 2)).map(({ chargedTo }) => chargedTo)).toEqual([ALICE, BOB]);
    expect((await ledger.listChargesOf({ turnId: "bob" })).map(({ attempts }) => attempts)).toEqual(seen.map(() => 0));
  });

  it("bytes that another key has signed on the same nonce number are not a batch's own", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    await ledger.abandon(lease, batchId, 20);
    const other = await leaseOf(ledger, accountOf(0x0e2));
    expect(await submitted(ledger, other, [ALICE], 30)).toBe(batchId);
    const [taken] = await ledger.listUnmined(other.operator);
    expect(taken).toMatchObject({ id: batchId, nonce: 0, broadcasts: [{ signedAtMs: 30 }] });
  });

  it("the accounts with due charges come longest waiting first", async () => {
    expect(await ledger.listDuePayers(10, 10)).toEqual([
      { chargedTo: BOB, amount: 120_000n, charges: 2, oldestDueAtMs: 5 },
      { chargedTo: ALICE, amount: 120_000n, charges: 2, oldestDueAtMs: 10 },
    ]);
    expect(await ledger.listDuePayers(9, 10)).toMatchObject([{ chargedTo: BOB }]);
    expect(await ledger.listDuePayers(10, 1)).toMatchObject([{ chargedTo: BOB }]);
  });

  it("a batch takes the due charges of its accounts, once", async () => {
    const submission = await planned(ledger, lease, [ALICE], 10);
    expect(submission).toMatchObject({ kind: "settle", operator: OPERATOR, nonce: null, state: { kind: "planned" } });
    expect(await statesOf("alice")).toEqual(["batched", "batched"]);
    expect(await statesOf("bob")).toEqual(["accrued", "accrued"]);
    expect(await planned(ledger, lease, [ALICE], 10)).toBeNull();
    const batchId = submission?.id as Hex;
    const charges = await ledger.listChargesOf({ turnId: "alice" });
    expect(await ledger.listReceipts(batchId)).toEqual(charges.map(({ id }) => ({ chargeId: id, leaf: hashOf(id) })));
    expect(await ledger.findBatch(batchId)).toMatchObject({ rows: 1, charges: 2, total: 120_000n, state: "planned" });
    expect(await ledger.listBatches(10, 0)).toHaveLength(1);
    expect(await pendingOf()).toBe(120_000n);
  });

  it("of what is due a batch has what netting has put into it, of whole accounts and of parts of them", async () => {
    await ledger.recordTurn(turnOf("alice again"), 11);
    await ledger.recordTurn(turnOf("alice later"), 30);
    await ledger.recordTurn(turnOf("bob again", { payer: BOB }), 11);
    const net: Net = (charges, budgets) => {
      const left = charges.filter(({ payer, for: subject }) => payer === ALICE || subject.kind === "tool");
      return netOf()(left, budgets);
    };
    const request = { accounts: [ALICE, BOB], maxCharges: 8, router: ROUTER, net, retry: RETRY };
    const submission = await ledger.planBatch(lease, request, 20);
    for (const turn of ["alice", "alice again"]) expect(await statesOf(turn)).toEqual(["batched", "batched"]);
    expect(await statesOf("alice later")).toEqual(["accrued", "accrued"]);
    for (const turn of ["bob", "bob again"]) expect((await statesOf(turn)).toSorted()).toEqual(["accrued", "batched"]);
    expect(await ledger.listReceipts(submission?.id as Hex)).toHaveLength(6);
    expect(await ledger.listDuePayers(20, 10)).toMatchObject([{ chargedTo: BOB, charges: 2 }]);
  });

  it("what an account owes beyond a batch of whole accounts stays due", async () => {
    const turns = Array.from({ length: 600 }, (_, i) => `more ${i}`);
    await Promise.all(turns.map((id) => ledger.recordTurn(turnOf(id), 11)));
    await planned(ledger, lease, [ALICE, BOB], 20);
    expect(await statesOf("bob")).toEqual(["batched", "batched"]);
    expect((await ledger.listDuePayers(20, 10)).map(({ charges }) => charges)).toEqual([204]);
    const rest = await ledger.planBatch(
      lease,
      { accounts: [ALICE], maxCharges: 10_000, router: ROUTER, net: netOf(), retry: RETRY },
      20,
    );
    expect(await ledger.findBatch(rest?.id as Hex)).toMatchObject({ charges: 204 });
    expect(await ledger.listDuePayers(20, 10)).toEqual([]);
  });

  it("at most as many charges are taken as asked for, longest waiting first", async () => {
    const request = { accounts: [ALICE, BOB], maxCharges: 2, router: ROUTER, net: netOf(), retry: RETRY };
    await ledger.planBatch(lease, request, 10);
    expect(await statesOf("bob")).toEqual(["batched", "batched"]);
    expect(await statesOf("alice")).toEqual(["accrued", "accrued"]);
  });

  it("netting that throws changes nothing", async () => {
    const net = () => {
      throw new RangeError("does not fit");
    };
    const request = { accounts: [ALICE], maxCharges: 2, router: ROUTER, net, retry: RETRY };
    await expect(ledger.planBatch(lease, request, 10)).rejects.toThrow("does not fit");
    expect(await statesOf("alice")).toEqual(["accrued", "accrued"]);
  });

  it("a charge that netting calls unpayable fails once and waits", async () => {
    const net = netOf(({ chargedTo }) => (chargedTo === ALICE ? "allowance" : null));
    const request = { accounts: [ALICE, BOB], maxCharges: 10, router: ROUTER, net, retry: RETRY };
    const submission = await ledger.planBatch(lease, request, 10);
    expect(await ledger.listReceipts(submission?.id as Hex)).toHaveLength(2);
    const [charge] = await ledger.listChargesOf({ turnId: "alice" });
    expect(charge).toMatchObject({ attempts: 1, chargedTo: ALICE, state: { kind: "accrued", dueAtMs: 1_010 } });
    expect(await ledger.listFailures(charge?.id as Hex)).toEqual([{ reason: "allowance", atMs: 10 }]);
  });

  it("a batch goes from planned through submitted and included to final", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    expect(await statesOf("alice")).toEqual(["submitted", "submitted"]);
    expect(await ledger.listUnmined(OPERATOR)).toMatchObject([
      { id: batchId, nonce: 0, gasLimit: 1_000_000n, broadcasts: [{ maxFeePerGas: 2n ** 70n }] },
    ]);
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", outcomeOf());
    expect(await statesOf("alice")).toEqual(["included", "included"]);
    expect(await pendingOf()).toBe(0n);
    expect(await ledger.findBatch(batchId)).toMatchObject({ state: "included", inclusion: { blockNumber: 7n } });
    await ledger.finalize(lease, batchId, outcomeOf(), RETRY, 20);
    await ledger.finalize(lease, batchId, failing(), RETRY, 20);
    expect(await statesOf("alice")).toEqual(["final", "final"]);
    expect(await ledger.listUnmined(OPERATOR)).toEqual([]);
    expect(await ledger.readTotals()).toMatchObject({ settled: 120_000n, pending: 120_000n });
  });

  it("the same inclusion twice counts once, and a loss takes it back", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    for (const block of [7n, 7n, 8n]) {
      await ledger.recordInclusion(lease, batchId, inclusionAt(block), "success", outcomeOf());
      expect(await pendingOf()).toBe(0n);
    }
    await ledger.recordLoss(lease, batchId);
    await ledger.recordLoss(lease, batchId);
    expect(await pendingOf()).toBe(120_000n);
    expect(await statesOf("alice")).toEqual(["submitted", "submitted"]);
    expect(await ledger.listUnmined(OPERATOR)).toMatchObject([{ state: { kind: "submitted" }, nonce: 0 }]);
  });

  it("a success that is mined again as a revert is owed again", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", outcomeOf());
    await ledger.recordInclusion(lease, batchId, inclusionAt(8n), "reverted", null);
    expect(await pendingOf()).toBe(120_000n);
    await expect(ledger.finalize(lease, batchId, outcomeOf(), RETRY, 20)).rejects.toMatchObject({ code: "drift" });
  });

  it("the outcome below the finalized block replaces the one that was seen at the head", async () => {
    const batchId = await submitted(ledger, lease, [ALICE, BOB], 10);
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", failing(ALICE));
    expect([await pendingOf(ALICE), await pendingOf(BOB)]).toEqual([120_000n, 0n]);
    await ledger.finalize(lease, batchId, failing(BOB), RETRY, 20);
    expect([await pendingOf(ALICE), await pendingOf(BOB)]).toEqual([0n, 120_000n]);
    expect(await statesOf("alice")).toEqual(["final", "final"]);
    expect(await ledger.listChargesOf({ turnId: "bob" })).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
  });

  it("a refused line is charged to nobody, even in a row that failed", async () => {
    const refused = [{ chargedTo: ALICE, toolId: toolOf(1), amount: usdc(100_000), reason: "unlisted" as const }];
    const batchId = await submitted(ledger, lease, [ALICE, BOB], 10);
    const outcome = { ...failing(ALICE), refused };
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", outcome);
    expect(await pendingOf()).toBe(20_000n);
    await ledger.finalize(lease, batchId, outcome, RETRY, 20);
    expect(await pendingOf()).toBe(20_000n);
    expect((await statesOf("alice")).sort()).toEqual(["accrued", "refused"]);
    expect(await ledger.readTotals()).toMatchObject({ refused: 100_000n, settled: 120_000n });
  });

  it("after the fifth failure the platform takes the charge over, and the payer owes the platform", async () => {
    let nowMs = 10;
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      expect(await ledger.listChargesOf({ turnId: "alice" })).toMatchObject([
        { attempts: attempt - 1, chargedTo: ALICE },
        {},
      ]);
      await settled(ledger, lease, [ALICE], failing(), nowMs);
      nowMs += attempt * 1_000;
    }
    expect(await ledger.listChargesOf({ turnId: "alice" })).toMatchObject([{ attempts: 5, chargedTo: INSURANCE }, {}]);
    expect([await pendingOf(), await debtOf()]).toEqual([0n, 120_000n]);

    // Its own account is empty: nothing is lost, however often that is so.
    await settled(ledger, lease, [INSURANCE], failing(INSURANCE), nowMs);
    expect(await ledger.listChargesOf({ turnId: "alice" })).toMatchObject([{ attempts: 6, chargedTo: INSURANCE }, {}]);

    await settled(ledger, lease, [INSURANCE], outcomeOf(), nowMs + 10_000);
    expect(await statesOf("alice")).toEqual(["absorbed", "absorbed"]);
    expect(await ledger.readTotals()).toMatchObject({ absorbed: 120_000n, pending: 120_000n });
    expect(await ledger.readSettledByAccount()).toEqual([{ account: INSURANCE, amount: 120_000n }]);
    const [charge] = await ledger.listChargesOf({ turnId: "alice" });
    expect(await ledger.listFailures(charge?.id as Hex)).toHaveLength(6);

    expect(await ledger.clearDebt(ALICE)).toBe(120_000n);
    expect(await ledger.clearDebt(ALICE)).toBe(0n);
    expect(await debtOf()).toBe(0n);
  });

  it("a line that is refused after the platform took it over is no debt", async () => {
    const retry = { ...RETRY, maxAttempts: 1 };
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    await ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", failing());
    await ledger.finalize(lease, batchId, failing(), retry, 20);
    expect(await debtOf()).toBe(120_000n);
    const refused = [{ chargedTo: INSURANCE, toolId: toolOf(1), amount: usdc(100_000), reason: "unlisted" as const }];
    await settled(ledger, lease, [INSURANCE], outcomeOf({ refused }), 20);
    expect(await debtOf()).toBe(20_000n);
    expect(await ledger.clearDebt(ALICE)).toBe(20_000n);
  });

  it("abandoned charges are due at once, use up no attempt and may make the same batch again", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    await ledger.abandon(lease, batchId, 30);
    await ledger.abandon(lease, batchId, 40);
    expect(await ledger.listChargesOf({ turnId: "alice" })).toMatchObject([
      { attempts: 0, state: { kind: "accrued", dueAtMs: 30 } },
      { attempts: 0, state: { kind: "accrued", dueAtMs: 30 } },
    ]);
    await expect(ledger.recordInclusion(lease, batchId, inclusionAt(7n), "success", outcomeOf())).rejects.toMatchObject(
      {
        code: "drift",
      },
    );

    const again = await planned(ledger, lease, [ALICE], 30);
    expect(again).toMatchObject({ id: batchId, nonce: null, state: { kind: "planned" }, broadcasts: [] });
    expect(await ledger.assignNonce(lease, batchId, 0, 1n)).toMatchObject({ nonce: 1 });
    expect(await ledger.listReceipts(batchId)).toHaveLength(2);
  });

  it("a batch that is taken apart before it is signed frees its charges, and a filler keeps its nonce", async () => {
    const submission = await planned(ledger, lease, [ALICE, BOB], 10);
    const batchId = submission?.id as Hex;
    await ledger.assignNonce(lease, batchId, 4, 1n);
    await ledger.unplanBatch(lease, batchId, [BOB], 500, 20);
    await ledger.unplanBatch(lease, batchId, [BOB], 900, 30);
    expect(await ledger.listChargesOf({ turnId: "alice" })).toMatchObject([
      { state: { dueAtMs: 20 }, attempts: 0 },
      {},
    ]);
    expect(await ledger.listChargesOf({ turnId: "bob" })).toMatchObject([{ state: { dueAtMs: 520 }, attempts: 0 }, {}]);
    const [filler, ...others] = await ledger.listUnmined(OPERATOR);
    expect(filler).toMatchObject({ kind: "filler", nonce: 4, to: OPERATOR, state: { kind: "planned" } });
    expect(others).toEqual([]);
    // Whoever wants to fill the same nonce gets the filler that is there.
    const wish = { id: hashOf("filler"), kind: "filler", to: OPERATOR, calldata: "0x", nonce: 4 } as const;
    expect(await ledger.planSubmission(lease, wish, 40)).toEqual(filler);
  });

  it("who breaks a batch waits with everything that is due, and keeps nobody else from the next one", async () => {
    const batchId = (await planned(ledger, lease, [ALICE, BOB], 10))?.id as Hex;
    await ledger.recordTurn(turnOf("bob again", { payer: BOB }), 15);
    await ledger.unplanBatch(lease, batchId, [BOB], 500, 20);
    expect(await ledger.listChargesOf({ turnId: "bob again" })).toMatchObject([
      { state: { dueAtMs: 520 }, attempts: 0 },
      { state: { dueAtMs: 520 }, attempts: 0 },
    ]);
    expect((await ledger.listDuePayers(519, 10)).map(({ chargedTo }) => chargedTo)).toEqual([ALICE]);
    expect((await ledger.listDuePayers(520, 10)).map(({ chargedTo }) => chargedTo).sort()).toEqual([ALICE, BOB].sort());
  });

  it("a batch with signed bytes cannot be taken apart", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    await expect(ledger.unplanBatch(lease, batchId, [], 0, 20)).rejects.toMatchObject({ code: "invalid_input" });
  });

  it("nonces follow each other, start at the chain's, are never given twice, and none is jumped over", async () => {
    const payout = (n: number) =>
      ({ id: hashOf(`payout ${n}`), kind: "payout", to: ROUTER, calldata: "0x03", nonce: null }) as const;
    const nonces: (number | null)[] = [];
    for (const [n, firstNonce] of [7, 7, 9, 20].entries()) {
      const { id } = await ledger.planSubmission(lease, payout(n), 10);
      expect(await ledger.planSubmission(lease, payout(n), 10)).toMatchObject({ id, nonce: null });
      nonces.push((await ledger.assignNonce(lease, id, firstNonce, 1n)).nonce);
      expect((await ledger.assignNonce(lease, id, 99, 2n)).nonce).toBe(nonces.at(-1));
    }
    expect(nonces).toEqual([7, 8, 9, 10]);
    expect((await ledger.listUnmined(OPERATOR)).map(({ nonce }) => nonce)).toEqual([7, 8, 9, 10]);
  });

  it("replacements are kept oldest first, and the same bytes once", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    const replacement = { raw: "0x05", maxFeePerGas: 3n, maxPriorityFeePerGas: 1n, signedAtMs: 11 } as const;
    for (const n of [2, 1, 2])
      await ledger.saveBroadcast(lease, batchId, { ...replacement, txHash: hashOf(`replacement ${n}`) });
    const [submission] = await ledger.listUnmined(OPERATOR);
    expect(submission?.broadcasts.slice(1).map(({ txHash }) => txHash)).toEqual(
      [2, 1].map((n) => hashOf(`replacement ${n}`)),
    );
  });

  it("a writer that lost its lease changes nothing", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    await ledger.releaseLease(lease);
    await ledger.acquireLease(OPERATOR, "other", 1_000);
    const before = await ledger.listUnmined(OPERATOR);
    const broadcast = {
      txHash: hashOf("x"),
      raw: "0x",
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      signedAtMs: 1,
    } as const;
    const filler = { id: hashOf("filler"), kind: "filler", to: OPERATOR, calldata: "0x", nonce: null } as const;
    const writes = [
      () => planned(ledger, lease, [BOB], 10),
      () => ledger.planSubmission(lease, filler, 10),
      () => ledger.assignNonce(lease, batchId, 0, 1n),
      () => ledger.saveBroadcast(lease, batchId, broadcast),
      () => ledger.unplanBatch(lease, batchId, [], 0, 10),
      () => ledger.recordInclusion(lease, batchId, inclusionAt(1n), "success", outcomeOf()),
      () => ledger.recordLoss(lease, batchId),
      () => ledger.finalize(lease, batchId, outcomeOf(), RETRY, 10),
      () => ledger.abandon(lease, batchId, 10),
    ];
    for (const write of writes) await expect(write()).rejects.toMatchObject({ code: "fenced", retryable: false });
    expect(await ledger.listUnmined(OPERATOR)).toEqual(before);
    expect(await statesOf("bob")).toEqual(["accrued", "accrued"]);
  });

  it("a writer whose lease was lost and then taken by a process of its own name changes nothing", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    await ledger.releaseLease(lease);
    const other = await ledger.acquireLease(OPERATOR, "other", 1_000);
    await ledger.releaseLease(other as Lease);
    const successor = await ledger.acquireLease(OPERATOR, lease.holder, 1_000);
    expect(successor).toMatchObject({ holder: lease.holder });
    await expect(ledger.abandon(lease, batchId, 10)).rejects.toMatchObject({ code: "fenced" });
    await ledger.abandon(successor as Lease, batchId, 10);
  });

  it("one operator's lease is no right to another one's submissions", async () => {
    const batchId = await submitted(ledger, lease, [ALICE], 10);
    const other = await leaseOf(ledger, accountOf(77), "daemon");
    await expect(ledger.abandon(other, batchId, 10)).rejects.toMatchObject({ code: "fenced" });
  });

  it("what a turn's tool had promised is told to whoever makes its receipt, and the model promises nothing", async () => {
    const tools = [{ toolId: toolOf(1), amount: usdc(10), calls: 1, schemaHash: HASHES.schema }];
    const recorded = await ledger.recordTurn(turnOf("promised", { tools }), 0);
    const own = recorded.kind === "recorded" ? recorded.chargeIds : [];
    const seen = new Map<string, unknown>();
    const net = netOf(({ id, for: subject, hashes }) => {
      if (own.includes(id)) seen.set(subject.kind, hashes);
      return null;
    });
    await ledger.planBatch(lease, { accounts: [ALICE], maxCharges: 10, router: ROUTER, net, retry: RETRY }, 10);
    expect(seen.get("tool")).toEqual(HASHES);
    expect(seen.get("model")).toEqual({ ...HASHES, schema: NO_HASHES.schema });
  });

  it("charges of calls are settled like those of turns", async () => {
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(10), expiresAtMs: 100 }, 0);
    await ledger.hold({ callId: "c", sessionId: "s", toolId: toolOf(2), method: "m", amount: usdc(10) }, RICH, 1);
    await ledger.capture({ callId: "c", hashes: HASHES }, POLICY, 2);
    await ledger.closeSession("s", 3);
    await settled(ledger, lease, [ALICE], outcomeOf(), 10);
    expect(await ledger.listChargesOf({ callId: "c" })).toMatchObject([{ state: { kind: "final" } }]);
    expect(await ledger.findSession("s")).toMatchObject({ spent: 10n });
  });
});
