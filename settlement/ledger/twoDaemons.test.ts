import type { Hex } from "viem";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Lease, Ledger } from "./ledger.ts";
import { createPostgresLedger, type Store } from "./testing/backends.ts";
import { ALICE, accountOf, leaseOf, netOf, RETRY, RICH, ROUTER, toolOf, turnOf, usdc } from "./testing/fixtures.ts";

describe("two daemons on one PostgreSQL", () => {
  let store: Store;
  beforeEach(async () => {
    store = await createPostgresLedger();
  });
  afterEach(() => store.remove());

  it("no charge gets into two batches, and none is left out", async () => {
    const [one, two] = [await store.open(), await store.open()];
    const payers = Array.from({ length: 20 }, (_, i) => accountOf(i + 1));
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => one.recordTurn(turnOf(`${i}`, { payer: payers[i % 20] ?? ALICE }), 0)),
    );
    const leases = [await leaseOf(one, accountOf(501), "one"), await leaseOf(two, accountOf(502), "two")] as const;
    const request = { accounts: payers, maxCharges: 30, router: ROUTER, net: netOf(), retry: RETRY };
    const planAll = async (ledger: Ledger, lease: Lease) => {
      const batchIds: Hex[] = [];
      // A planner may find everything locked by the other; the other one is then at work.
      for (let tries = 0; tries < 100 && (await ledger.listDuePayers(0, 1)).length > 0; tries += 1) {
        const submission = await ledger.planBatch(lease, request, 0);
        if (submission !== null) batchIds.push(submission.id);
      }
      return batchIds;
    };
    const batchIds = (await Promise.all([planAll(one, leases[0]), planAll(two, leases[1])])).flat();
    const receipts = (await Promise.all(batchIds.map((batchId) => one.listReceipts(batchId)))).flat();
    expect(new Set(receipts.map(({ chargeId }) => chargeId)).size).toBe(400);
    expect(receipts).toHaveLength(400);
    expect(await one.audit()).toEqual([]);
  });

  it("calls of both against one session's last cent never overrun it", async () => {
    const ledgers = [await store.open(), await store.open()];
    await ledgers[0]?.openSession({ id: "s", payer: ALICE, maxSpend: usdc(10), expiresAtMs: 100 }, 0);
    const answers = await Promise.all(
      ledgers.flatMap((ledger, daemon) =>
        Array.from({ length: 100 }, (_, i) =>
          ledger.hold(
            { callId: `${daemon} ${i}`, sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(1) },
            RICH,
            1,
          ),
        ),
      ),
    );
    expect(answers.filter(({ kind }) => kind === "held")).toHaveLength(10);
    expect(await ledgers[0]?.audit()).toEqual([]);
  });

  it("the same turns and calls delivered to both are recorded once", async () => {
    const ledgers = [await store.open(), await store.open()];
    await ledgers[0]?.openSession({ id: "s", payer: ALICE, maxSpend: usdc(100), expiresAtMs: 100 }, 0);
    const call = (i: number) => ({ callId: `c${i}`, sessionId: "s", toolId: toolOf(1), method: "m", amount: usdc(1) });
    const kinds = async (ledger: Ledger) => {
      const numbers = Array.from({ length: 50 }, (_, i) => i);
      const turns = numbers.map((i) => ledger.recordTurn(turnOf(`${i}`, { payer: accountOf((i % 7) + 1) }), 0));
      const holds = numbers.map((i) => ledger.hold(call(i), RICH, 1));
      return (await Promise.all([...turns, ...holds])).map(({ kind }) => kind);
    };
    const answers = (await Promise.all(ledgers.map(kinds))).flat();
    const count = (kind: string) => answers.filter((answer) => answer === kind).length;
    expect([count("recorded"), count("held"), count("duplicate")]).toEqual([50, 50, 100]);
    expect(await ledgers[0]?.audit()).toEqual([]);
  });
});
