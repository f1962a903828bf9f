import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Turn } from "../../../domain/charges/turn.ts";
import { SettlementError } from "../../../domain/errors.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { ledgers, type Store } from "../../../ledger/testing/backends.ts";
import { toolOf, turnOf, usdc } from "../../../ledger/testing/fixtures.ts";
import { DEFAULT_POLICY } from "../../policy.ts";
import type { Admission } from "../admission.ts";
import { createPrices, type Prices } from "../prices.ts";
import { type ReportedTurn, recordTurns } from "./recordTurns.ts";

const open: Admission = { write: (_, write) => write() };
const anyPrice: Prices = { refuse: async () => null };
const credit = { base: usdc(100), growthBps: 0, max: usdc(100) };
const costing = (id: string, cost: number, fields: Partial<Turn> = {}) =>
  turnOf(id, { modelCost: usdc(cost), tools: [], ...fields });
const plain = (turn: Turn): ReportedTurn => ({ turn, brought: null });

describe.each(ledgers)("turns that are reported together, on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  // Those that were recorded by themselves.
  let alone: string[];

  beforeEach(async () => {
    store = await create();
    ledger = await store.open();
    alone = [];
  });
  afterEach(() => store.remove());

  const record = (turns: readonly Turn[], prices = anyPrice) =>
    recordTurns(
      { ledger, clock: { nowMs: () => 1 }, policy: { ...DEFAULT_POLICY, credit } },
      open,
      prices,
      async ({ turn }) => {
        alone.push(turn.id);
        const recorded = await ledger.recordTurn(turn, 1, { credit, prepaid: null });
        if (recorded.kind === "budget_refused") return { kind: "refused", code: "consent_required", reason: "" };
        return recorded;
      },
      turns.map(plain),
    );
  const kinds = async (turns: readonly Turn[], prices = anyPrice) =>
    (await record(turns, prices)).map(({ kind }) => kind);

  it("are recorded in one commit, and found again in one", async () => {
    expect(await kinds([costing("a", 10), costing("b", 20)])).toEqual(["recorded", "recorded"]);
    expect(await kinds([costing("b", 20), costing("c", 5), costing("a", 11)])).toEqual([
      "duplicate",
      "recorded",
      "conflict",
    ]);
    expect(alone).toEqual([]);
  });

  it("each have an answer of their own beside one that is wrong", async () => {
    const wrong = costing("w", 1, { tools: [{ toolId: toolOf(1), amount: usdc(1), calls: 101 }] });
    expect(await record([costing("a", 10), wrong, costing("b", 20)])).toMatchObject([
      { kind: "recorded" },
      { kind: "invalid", reason: "turn w has 101 calls; the most is 100" },
      { kind: "recorded" },
    ]);
    expect(await kinds([costing("a", 10), costing("b", 20)])).toEqual(["duplicate", "duplicate"]);
  });

  it("are judged by themselves if they are above their payer's credit, draw on a budget or ask too much", async () => {
    const refused = { reason: "too much", listed: [{ toolId: toolOf(1), most: usdc(6) }] };
    const dear: Prices = { refuse: async (costs) => (costs.some(({ amount }) => amount === 7n) ? refused : null) };
    const asking = (amount: number) => ({ tools: [{ toolId: toolOf(1), amount: usdc(amount), calls: 1 }] });
    const turns = [
      costing("a", 60),
      costing("b", 70),
      costing("c", 1, { budgetId: 5n }),
      costing("d", 1, asking(7)),
      costing("e", 1, asking(6)),
    ];
    expect(await kinds(turns, dear)).toEqual(["recorded", "credit_exceeded", "refused", "recorded", "recorded"]);
    expect(alone).toEqual(["b", "c", "d"]);
  });

  it("wait once for a chain that is away, however many they are and whatever their tools", async () => {
    let asked = 0;
    const listings = async () => {
      asked += 1;
      throw new SettlementError("chain_unavailable", "away", { retryable: true });
    };
    const prices = createPrices({ chain: { listings }, clock: { nowMs: () => 1 }, policy: DEFAULT_POLICY });
    const turns = Array.from({ length: 50 }, (_, n) =>
      costing(`t${n}`, 1, { tools: [{ toolId: toolOf(n), amount: usdc(1), calls: 1 }] }),
    );
    expect(await kinds(turns, prices)).toEqual(turns.map(() => "recorded"));
    expect(asked).toBe(1);
  });

  it("are all to be reported again if the service is at fault, of one of them alone too", async () => {
    const away = new SettlementError("ledger_unavailable", "away", { retryable: true });
    const failing = { refuse: () => Promise.reject(away) };
    await expect(record([costing("a", 1)], failing)).rejects.toBe(away);
    expect(await kinds([costing("a", 1)])).toEqual(["recorded"]);
  });
});
