import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Chain, TxReceipt } from "../../chain/chain.ts";
import type { Lease, Ledger } from "../../ledger/ledger.ts";
import { ledgers, type Store } from "../../ledger/testing/backends.ts";
import { accountOf, hashOf, leaseOf, OPERATOR, outcomeOf, submitted, turnOf } from "../../ledger/testing/fixtures.ts";
import type { EngineContext } from "../context.ts";
import { DEFAULT_POLICY } from "../policy.ts";
import { createConfirm } from "./confirm.ts";

const PAYERS = [1, 2, 3, 4, 5, 6].map(accountOf);

describe.each(ledgers)("a batch that was mined and ran out of gas, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let lease: Lease;
  let turns = 0;
  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    lease = await leaseOf(ledger);
  });
  afterEach(() => store.remove());

  // Signed for a million.
  async function mine(payers: readonly `0x${string}`[], result: Pick<TxReceipt, "status" | "gasUsed">): Promise<void> {
    for (const payer of payers) await ledger.recordTurn(turnOf(`${turns++}`, { payer }), 0);
    const batchId = await submitted(ledger, lease, payers, 0);
    const block = { number: 1n, hash: hashOf("block"), timestampMs: 0 };
    const batches = new Map(result.status === "success" ? [[batchId, outcomeOf()] as const] : []);
    const chain = {
      finalized: async () => ({ ...block, number: 0n }),
      blockHash: async () => block.hash,
      receipt: async (txHash) => ({ txHash, blockNumber: 1n, blockHash: block.hash, batches, ...result }),
    } as Partial<Chain> as Chain;
    const policy = { ...DEFAULT_POLICY, bounds: { ...DEFAULT_POLICY.bounds, maxRows: 10 } };
    const context = { ledger, chain, policy, clock: { nowMs: () => 0 }, report: () => {}, reached: () => {} };
    await createConfirm(context as unknown as EngineContext)(lease);
  }

  it("lets the next have half of its rows, whoever makes it, and each that goes through twice as many", async () => {
    expect(await ledger.readRowBound(OPERATOR)).toBeNull();
    await mine(PAYERS, { status: "reverted", gasUsed: 985_000n });
    const other = await store.open();
    expect(await other.readRowBound(OPERATOR)).toBe(3);
    await mine([PAYERS[0] ?? "0x"], { status: "reverted", gasUsed: 1_000_000n });
    expect(await ledger.readRowBound(OPERATOR)).toBe(1);
    for (const bound of [2, 4, 8, null]) {
      await mine([PAYERS[1] ?? "0x"], { status: "success", gasUsed: 100_000n });
      expect(await ledger.readRowBound(OPERATOR)).toBe(bound);
    }
  });

  it("is told from one that reverted for another reason", async () => {
    await mine(PAYERS, { status: "reverted", gasUsed: 300_000n });
    expect(await ledger.readRowBound(OPERATOR)).toBeNull();
  });
});
