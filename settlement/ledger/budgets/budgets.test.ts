import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { microUsdc } from "../../domain/money.ts";
import { type BudgetOnChain, hashTools, type SignedBudget } from "../../domain/payer/budget.ts";
import type { Lease, Ledger } from "../ledger.ts";
import { ledgers, type Store } from "../testing/backends.ts";
import {
  ALICE,
  accountOf,
  HASHES,
  inclusionAt,
  leaseOf,
  netOf,
  outcomeOf,
  POLICY,
  RETRY,
  RICH,
  ROUTER,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../testing/fixtures.ts";

const NEW: BudgetOnChain = {
  maxSpend: usdc(0),
  spent: usdc(0),
  validUntil: 0n,
  endsAt: 0n,
  toolsHash: hashTools([]),
};

const budgetOf = (id: bigint, maxSpend: number, fields: Partial<SignedBudget> = {}): SignedBudget => ({
  payer: ALICE,
  id,
  maxSpend: usdc(maxSpend),
  validUntil: 1_000n,
  tools: [],
  signature: `0x${maxSpend.toString(16).padStart(130, "0")}`,
  ...fields,
});

describe.each(ledgers)("budgets on $name", ({ create }) => {
  let store: Store;
  let ledger: Ledger;
  let lease: Lease;
  // Every test has a payer, a budget and a session of its own.
  let n = 0;
  beforeAll(async () => {
    store = await create();
    ledger = await store.open();
    lease = await leaseOf(ledger);
  });
  afterAll(() => store.remove());

  async function prepared(maxSpend: number) {
    n += 1;
    const [payer, id, session] = [accountOf(0x6000 + n), BigInt(n), `session ${n}`];
    await ledger.keepBudget(budgetOf(id, maxSpend, { payer }), 0);
    await ledger.openSession({ id: session, payer, maxSpend: usdc(1_000_000), budgetId: id, expiresAtMs: 10_000 }, 0);
    return {
      payer,
      id,
      hold: (name: string, amount: number, onChain: BudgetOnChain | null = NEW, atBlock = 0n) =>
        ledger.hold(
          { callId: `${session} ${name}`, sessionId: session, toolId: toolOf(1), method: "m", amount: usdc(amount) },
          { ...RICH, atBlock, budget: onChain },
          1,
        ),
      capture: (name: string) =>
        ledger.capture({ callId: `${session} ${name}`, hashes: HASHES }, { ...POLICY, maxCount: 1 }, 1),
      void: (name: string) => ledger.void(`${session} ${name}`),
      turn: (name: string, amount: number, onChain: BudgetOnChain | null = NEW) =>
        ledger.recordTurn(
          turnOf(`${session} ${name}`, { payer, budgetId: id, modelCost: usdc(amount), tools: [] }),
          1,
          null,
          onChain,
        ),
      drawn: async () => {
        const { held, pending, taken } = (await ledger.findBudget({ payer, id })) ?? {};
        expect(await ledger.audit()).toEqual([]);
        return { held, pending, taken };
      },
    };
  }

  it("of one id the highest limit counts, in whatever order signatures come", async () => {
    expect(await ledger.keepBudget(budgetOf(1n, 10), 0)).toMatchObject({ kind: "kept", budget: { maxSpend: 10n } });
    expect(await ledger.keepBudget(budgetOf(1n, 30), 0)).toMatchObject({ kind: "kept", budget: { maxSpend: 30n } });
    expect(await ledger.keepBudget(budgetOf(1n, 20), 0)).toMatchObject({
      kind: "duplicate",
      budget: { maxSpend: 30n },
    });
    expect(await ledger.keepBudget(budgetOf(1n, 30), 0)).toMatchObject({ kind: "duplicate" });
    const [highest] = await ledger.listBudgets(ALICE, 10, 0);
    expect(highest).toMatchObject(budgetOf(1n, 30));
    expect(await ledger.findBudget({ payer: accountOf(1), id: 1n })).toBeNull();
  });

  it("a raise takes nothing back", async () => {
    const tools = [toolOf(1), toolOf(2)];
    await ledger.keepBudget(budgetOf(2n, 10, { tools }), 0);
    const raised = (fields: Partial<SignedBudget>) => ledger.keepBudget(budgetOf(2n, 20, { tools, ...fields }), 0);
    expect(await raised({ validUntil: 999n })).toMatchObject({ kind: "narrower" });
    expect(await raised({ tools: [toolOf(1)] })).toMatchObject({ kind: "narrower" });
    // The chain may see the other one last.
    expect(await raised({ tools: [...tools, toolOf(3)] })).toMatchObject({ kind: "narrower" });
    expect(await raised({ tools: tools.toReversed() })).toMatchObject({ kind: "narrower" });
    expect(await raised({ maxSpend: usdc(10), validUntil: 2_000n })).toMatchObject({ kind: "narrower" });
    expect(await ledger.findBudget({ payer: ALICE, id: 2n })).toMatchObject({
      maxSpend: 10n,
      validUntil: 1_000n,
      tools,
    });
    expect(await raised({ tools: [], validUntil: 2_000n })).toMatchObject({ kind: "kept" });
    expect(await ledger.keepBudget(budgetOf(2n, 30, { tools, validUntil: 2_000n }), 0)).toMatchObject({
      kind: "narrower",
    });
  });

  it("an id may have 64 bits", async () => {
    const id = 2n ** 64n - 1n;
    await ledger.keepBudget(budgetOf(id, 10), 0);
    expect(await ledger.findBudget({ payer: ALICE, id })).toMatchObject({ id });
    await expect(ledger.keepBudget(budgetOf(id + 1n, 10), 0)).rejects.toThrow("must be from 0 to");
  });

  it("a hundred calls at once draw no more than was signed", async () => {
    const { hold, drawn } = await prepared(70);
    const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => hold(`${i}`, 10)));
    expect(answers.filter(({ kind }) => kind === "held")).toHaveLength(7);
    expect(answers.filter(({ kind }) => kind === "unaffordable")).toHaveLength(93);
    expect(await drawn()).toEqual({ held: 70n, pending: 0n, taken: 0n });
  });

  it("neither do turns and calls together, and a raise lets in what it covers", async () => {
    const { payer, id, hold, turn, drawn } = await prepared(50);
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, (_, i) => turn(`turn ${i}`, 10)),
      ...Array.from({ length: 10 }, (_, i) => hold(`${i}`, 10)),
    ]);
    expect(answers.filter(({ kind }) => kind === "held" || kind === "recorded")).toHaveLength(5);
    expect(await turn("turn a", 1)).toEqual({ kind: "budget_refused", reason: "budget_exceeded" });
    await ledger.keepBudget(budgetOf(id, 51, { payer }), 0);
    expect(await turn("turn a", 1)).toMatchObject({ kind: "recorded" });
    const { held = 0n, pending = 0n } = await drawn();
    expect(pending + held).toBe(51n);
  });

  it("under how many others something is reserved or waits is known", async () => {
    const { payer, id, hold, turn, void: giveUp } = await prepared(50);
    const open = (than: bigint) => ledger.countOpenBudgets({ payer, id: than });
    expect(await open(id + 1n)).toBe(0);
    await hold("a", 10);
    expect([await open(id), await open(id + 1n)]).toEqual([0, 1]);
    await giveUp("a");
    expect(await open(id + 1n)).toBe(0);
    await turn("b", 10);
    expect(await open(id + 1n)).toBe(1);
  });

  it("what was recorded is a duplicate, whatever is left of its budget", async () => {
    const { turn, hold } = await prepared(10);
    expect(await turn("t", 10)).toMatchObject({ kind: "recorded" });
    expect(await turn("t", 10)).toMatchObject({ kind: "duplicate" });
    expect(await turn("t", 10, null)).toMatchObject({ kind: "duplicate" });
    expect(await turn("t", 9)).toEqual({ kind: "conflict" });
    expect(await hold("c", 1)).toEqual({ kind: "unaffordable" });
  });

  it("what is taken on chain and not yet recorded here is not counted twice", async () => {
    const { hold, turn } = await prepared(10);
    await turn("t", 6);
    const spent = { ...NEW, maxSpend: usdc(10), spent: usdc(6), validUntil: 1_000n };
    expect(await hold("c", 5, spent)).toEqual({ kind: "unaffordable" });
    expect(await hold("d", 4, spent)).toMatchObject({ kind: "held" });
  });

  it("what refused lines asked for can be drawn again", async () => {
    const { payer, hold, capture, drawn } = await prepared(10);
    await hold("c", 10);
    await capture("c");
    const batchId = await submitted(ledger, lease, [payer], 2);
    const refused = [{ chargedTo: payer, toolId: toolOf(1), amount: usdc(10), reason: "under_staked" as const }];
    await ledger.recordInclusion(lease, batchId, inclusionAt(5n), "success", outcomeOf({ refused }));
    expect(await drawn()).toEqual({ held: 0n, pending: 0n, taken: 0n });
    await ledger.finalize(lease, batchId, outcomeOf({ refused }), RETRY, 3);
    expect(await drawn()).toEqual({ held: 0n, pending: 0n, taken: 0n });
    expect(await hold("d", 10, NEW, 5n)).toMatchObject({ kind: "held" });
  });

  it("what somebody else has taken on chain is no longer there to be drawn on", async () => {
    const { hold, turn } = await prepared(10);
    const spent = { ...NEW, maxSpend: usdc(10), spent: usdc(4), validUntil: 1_000n };
    expect(await hold("c", 7, spent)).toEqual({ kind: "unaffordable" });
    expect(await hold("d", 6, spent)).toMatchObject({ kind: "held" });
    expect(await turn("t", 1, spent)).toMatchObject({ kind: "budget_refused" });
  });

  it("a turn must be within the budget's time and tools, and its budget known", async () => {
    const { payer, id } = await prepared(100);
    const late = turnOf(`late ${id}`, { payer, budgetId: id, modelCost: usdc(1), tools: [] });
    expect(await ledger.recordTurn(late, 1_000_001, null, NEW)).toMatchObject({ reason: "budget_expired" });
    expect(await ledger.recordTurn({ ...late, budgetId: 999n }, 1, null, NEW)).toMatchObject({
      reason: "budget_unknown",
    });
    const tools = [toolOf(1)];
    await ledger.keepBudget(budgetOf(500n, 10_000_000, { payer, tools }), 0);
    const other = turnOf(`other ${id}`, {
      payer,
      budgetId: 500n,
      tools: [{ toolId: toolOf(2), amount: usdc(1), calls: 1 }],
    });
    expect(await ledger.recordTurn(other, 1, null, NEW)).toMatchObject({ reason: "budget_tools" });
    // The model is no tool, and a failed turn pays for nothing else.
    expect(await ledger.recordTurn({ ...other, outcome: "failed" }, 1, null, NEW)).toMatchObject({ kind: "recorded" });
  });

  it("counts a call from its hold to the chain, and back when a reorg undoes it", async () => {
    const { payer, id, hold, capture, void: giveUp, drawn } = await prepared(100);
    for (const name of ["a", "b", "c"]) await hold(name, 10);
    await giveUp("a");
    expect(await drawn()).toEqual({ held: 20n, pending: 0n, taken: 0n });
    await capture("b");
    expect(await drawn()).toEqual({ held: 10n, pending: 10n, taken: 0n });
    expect(await ledger.listBudgetsDue([payer])).toMatchObject([{ id, pending: 10n }]);
    const batchId = await submitted(ledger, lease, [payer], 2);
    await ledger.recordInclusion(lease, batchId, inclusionAt(5n), "success", outcomeOf());
    expect(await drawn()).toEqual({ held: 10n, pending: 0n, taken: 10n });
    // What was said before it was taken says too much.
    expect(await hold("d", 10, NEW, 4n)).toEqual({ kind: "outdated", takenAtBlock: 5n });
    await ledger.recordLoss(lease, batchId);
    expect(await drawn()).toEqual({ held: 10n, pending: 10n, taken: 0n });
    await ledger.recordInclusion(lease, batchId, inclusionAt(6n), "success", outcomeOf());
    await ledger.finalize(lease, batchId, outcomeOf(), RETRY, 3);
    expect(await drawn()).toEqual({ held: 10n, pending: 0n, taken: 10n });
    expect(await ledger.listBudgetsDue([payer])).toEqual([]);
  });

  it("what the platform takes over draws on no budget any more", async () => {
    const { payer, turn, drawn } = await prepared(10);
    await turn("t", 10);
    expect(await drawn()).toEqual({ held: 0n, pending: 10n, taken: 0n });
    const net = netOf(() => "budget_expired");
    const retry = { ...RETRY, maxAttempts: 1 };
    await ledger.planBatch(lease, { accounts: [payer], maxCharges: 10, router: ROUTER, net, retry }, 2);
    expect(await drawn()).toEqual({ held: 0n, pending: 0n, taken: 0n });
    expect(await ledger.readExposures([payer])).toMatchObject([{ pending: 0n, debt: 10n }]);
  });

  it("remembers the highest limit that is on chain for good", async () => {
    const { payer, id } = await prepared(100);
    const carried = async () => (await ledger.findBudget({ payer, id }))?.carried;
    await ledger.noteCarried({ payer, id, maxSpend: usdc(60) });
    await ledger.noteCarried({ payer, id, maxSpend: usdc(40) });
    expect(await carried()).toBe(60n);
    await ledger.keepBudget(budgetOf(id, 200, { payer }), 0);
    expect(await carried()).toBe(60n);
  });

  it("a session is the same only on the same budget", async () => {
    const { payer, id } = await prepared(100);
    const session = { id: `again ${id}`, payer, maxSpend: microUsdc(5n), expiresAtMs: 10_000 };
    expect(await ledger.openSession({ ...session, budgetId: id }, 0)).toMatchObject({ kind: "opened" });
    expect(await ledger.openSession({ ...session, budgetId: id }, 0)).toMatchObject({ kind: "duplicate" });
    expect(await ledger.openSession(session, 0)).toEqual({ kind: "conflict" });
  });
});
