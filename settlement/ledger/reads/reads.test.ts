import type { Address } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Charge } from "../../domain/charges/charge.ts";
import type { Lease, Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import {
  ALICE,
  accountOf,
  BOB,
  INSURANCE,
  leaseOf,
  netOf,
  outcomeOf,
  RETRY,
  RICH,
  ROUTER,
  settled,
  toolOf,
  turnOf,
  usdc,
} from "../testing/fixtures.ts";

const DEVELOPER = accountOf(0xde7);
const ALL = { fromMs: 0, toMs: 1_000_000, after: null, limit: 100 };

describe.each(ledgers)("statements and gauges on $name", ({ create }) => {
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

  it("a payer's charges come in pages, oldest first, without gaps or repeats, and without anybody else's", async () => {
    for (let n = 0; n < 5; n++) await ledger.recordTurn(turnOf(`t${n}`), 10 + Math.floor(n / 2));
    await ledger.recordTurn(turnOf("bob", { payer: BOB }), 10);
    const all = await ledger.listChargesOfPayer(ALICE, ALL);
    expect(all).toHaveLength(10);
    const seen: string[] = [];
    let after = null;
    for (let page = 0; page < 4; page++) {
      const charges = await ledger.listChargesOfPayer(ALICE, { ...ALL, after, limit: 3 });
      seen.push(...charges.map(({ id }) => id));
      const last = charges.at(-1);
      if (last) after = { atMs: last.accruedAtMs, id: last.id };
    }
    expect(seen).toEqual(all.map(({ id }) => id));
    expect(await ledger.listChargesOfPayer(ALICE, { ...ALL, fromMs: 11, toMs: 12 })).toHaveLength(4);
  });

  it("a payer's charges are listed wherever they are: settled, waiting, or taken over by the platform", async () => {
    const lease: Lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("settled"), 10);
    await settled(ledger, lease, [ALICE], outcomeOf({ charged: usdc(120_000) }), 20);
    await ledger.recordTurn(turnOf("taken over"), 30);
    const retry = { ...RETRY, maxAttempts: 1 };
    const net = netOf(() => "balance");
    await ledger.planBatch(lease, { accounts: [ALICE], maxCharges: 9, router: ROUTER, net, retry }, 40);
    await ledger.recordTurn(turnOf("waiting"), 50);
    await ledger.recordTurn(turnOf("bob", { payer: BOB }), 50);
    const told = ({ accruedAtMs, chargedTo, state }: Charge) => [accruedAtMs, chargedTo, state.kind];
    const expected = [
      [10, ALICE, "final"],
      [30, INSURANCE, "accrued"],
      [50, ALICE, "accrued"],
    ];
    const twice = expected.flatMap((charge) => [charge, charge]);
    expect((await ledger.listChargesOfPayer(ALICE, ALL)).map(told)).toEqual(twice);
    expect((await ledger.listNewestCharges(ALICE, null, 100)).map(told)).toEqual(twice.toReversed());
    expect((await ledger.listNewestCharges(ALICE, null, 3)).map(told)).toEqual(twice.toReversed().slice(0, 3));
  });

  it("a payer whose address begins like another's has a statement of its own", async () => {
    const lease: Lease = await leaseOf(ledger);
    const alike: Address = `0x${ALICE.slice(2, 10)}${"7".repeat(32)}`;
    await ledger.recordTurn(turnOf("alike", { payer: alike }), 10);
    await ledger.recordTurn(turnOf("alice"), 10);
    await settled(ledger, lease, [ALICE, alike], outcomeOf({ charged: usdc(240_000) }), 20);
    for (const payer of [ALICE, alike]) {
      const charges = await ledger.listChargesOfPayer(payer, ALL);
      expect(charges.map((charge) => charge.payer)).toEqual([payer, payer]);
    }
  });

  it("a final batch is in its payee's statement and in its tool's earnings, once", async () => {
    const lease: Lease = await leaseOf(ledger);
    await ledger.recordTurn(turnOf("t"), 10);
    const paid = [{ toolId: toolOf(1), payee: DEVELOPER, amount: usdc(100_000), developerShare: usdc(90_000) }];
    const batchId = await settled(ledger, lease, [ALICE], outcomeOf({ charged: usdc(120_000), paid }), 20);
    const earning = { batchId, payee: DEVELOPER, toolId: toolOf(1), amount: 100_000n, developerShare: 90_000n };
    expect(await ledger.listEarnings(DEVELOPER, ALL)).toMatchObject([{ ...earning, settledAtMs: 20 }]);
    expect(
      await ledger.listEarnings(DEVELOPER, { ...ALL, after: { atMs: 20, id: batchId + toolOf(1).slice(2) } }),
    ).toEqual([]);
    expect(await ledger.listEarnings(ALICE, ALL)).toEqual([]);
    const earnings = { toolId: toolOf(1), batches: 1, amount: 100_000n, developerShare: 90_000n };
    expect(await ledger.listToolEarnings(10, 0)).toEqual([earnings]);
    expect(await ledger.findToolEarnings(toolOf(1))).toEqual(earnings);
    expect(await ledger.findToolEarnings(toolOf(2))).toBeNull();
  });

  it("gauges count what is on its way and nothing that has come to its end", async () => {
    await ledger.openSession({ id: "s", payer: ALICE, maxSpend: usdc(1_000), expiresAtMs: 1_000 }, 0);
    await ledger.hold({ callId: "c", sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(7) }, RICH, 3);
    await ledger.recordTurn(turnOf("t"), 10);
    expect(await ledger.readGauges()).toEqual({
      failures: [],
      accrued: { count: 2, amount: 120_000n, oldestDueAtMs: 10 },
      openSessions: 1,
      holds: { count: 1, amount: 7n, oldestHeldAtMs: 3 },
      submissions: [],
      contests: { count: 0, amount: 0n },
      debt: 0n,
      owed: 0n,
    });
    const lease = await leaseOf(ledger);
    const failed = [{ chargedTo: ALICE, amount: usdc(120_000), reason: "balance" as const }];
    await settled(ledger, lease, [ALICE], outcomeOf({ failed }), 20);
    expect(await ledger.readGauges()).toMatchObject({
      failures: [{ reason: "balance", count: 2 }],
      accrued: { count: 2 },
    });
    await settled(ledger, lease, [ALICE], outcomeOf({ charged: usdc(120_000) }), 10_000);
    expect(await ledger.readGauges()).toMatchObject({ accrued: { count: 0, oldestDueAtMs: null }, submissions: [] });
    expect(await ledger.listSessions(ALICE, 10, 0)).toMatchObject([{ id: "s" }]);
    expect(await ledger.findHold("c")).toMatchObject({ callId: "c", state: { kind: "held" } });
    expect(await ledger.listExposures(10, 0)).toMatchObject([{ payer: ALICE, pending: 0n, held: 7n }]);
  });

  it("charges come newest first, of all payers or of one, in pages without gaps or repeats", async () => {
    for (let i = 0; i < 7; i++) {
      await ledger.recordTurn(turnOf(`turn-${i}`, { payer: i % 2 === 0 ? ALICE : BOB }), 10 + Math.floor(i / 3));
    }
    const all = await ledger.listNewestCharges(null, null, 100);
    expect(all).toHaveLength(14);
    const order = all.map(({ accruedAtMs, id }) => `${accruedAtMs} ${id}`);
    expect(order).toEqual([...order].sort().reverse());
    const walked: string[] = [];
    let before: { atMs: number; id: string } | null = null;
    for (let page = 0; page < 10; page++) {
      const charges: Awaited<ReturnType<Ledger["listNewestCharges"]>> = await ledger.listNewestCharges(null, before, 4);
      walked.push(...charges.map(({ id }) => id));
      const last = charges.at(-1);
      if (last === undefined) break;
      before = { atMs: last.accruedAtMs, id: last.id };
    }
    expect(walked).toEqual(all.map(({ id }) => id));
    const bobs = await ledger.listNewestCharges(BOB, null, 100);
    expect(bobs.map(({ payer }) => payer)).toEqual(Array.from({ length: 6 }, () => BOB));
  });
});
