import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { id } from "ethers";
import type { Address, Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine, type WorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import { NO_HASH } from "../../../settlement/domain/charges/charge.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import { answerOf } from "../../../settlement/engine/court/answerOf.ts";
import { DEFAULT_POLICY } from "../../../settlement/engine/policy.ts";
import type { NotedContest } from "../../../settlement/ledger/ledger.ts";
import { createPostgresStore } from "../../../settlement/ledger/testing/backends.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { contestRow } from "./contestRow.ts";

const PAYERS = 4;
const DEPOSIT = 1_000_000n;
const DAY_S = 86_400;
// Deep enough for a reorg that undoes nothing final.
const FINALITY_BLOCKS = 10;
const [CONTESTED, ANSWERED] = [1n, 2n];
const NOTHING_SHOWN = { linesHash: NO_HASH, lastLeaf: NO_HASH };

// An engine that answers for what it has settled, on the contracts as they are deployed.
describe("a contested row", () => {
  let world: LocalWorld;
  let folder: string;
  let snapshot: unknown;
  let settlement: WorldEngine;
  let turns: number;
  let name: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(DISKLESS, "settlement-"));
    world = await startWorld({ tools: 2, payers: PAYERS, finalityBlocks: FINALITY_BLOCKS });
  });

  afterAll(async () => {
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async ({ task }) => {
    snapshot = await world.rpc("evm_snapshot");
    turns = 0;
    name = task.id;
    settlement = await open();
  });

  afterEach(async () => {
    await settlement.close();
    await world.rpc("evm_setAutomine", [true]);
    await world.rpc("evm_revert", [snapshot]);
  });

  it("is answered by the next tick, and its deposit is the operator's", async () => {
    const { batchId, txHash } = await settleTurns(3);
    await contestRow(world, txHash, payer(0));
    expect(await stageOf(batchId)).toBe(CONTESTED);
    await deliver(1, 1);
    await settlement.engine.tick();
    expect(kindsOf("contested")).toMatchObject([
      { batchId, account: lower(payer(0)), operator: lower(operator()), charged: 3n * 130_000n },
    ]);
    expect((await settlement.ledger.readGauges()).contests).toEqual({ count: 1, amount: 3n * 130_000n });
    await settlement.settleAll();
    expect(await stageOf(batchId)).toBe(ANSWERED);
    expect(await world.bonds.creditOf(operator().address)).toBe(DEPOSIT);
    await untilEnded();
    expect(await settlement.ledger.listContests(10, 0)).toMatchObject([
      { batchId, state: "answered", answers: 1, answer: { state: "final" } },
    ]);
    expect((await settlement.ledger.readGauges()).contests.count).toBe(0);
    expect(kindsOf("contest_unanswerable")).toEqual([]);
    expect(await settlement.ledger.audit()).toEqual([]);
  });

  it("with more receipts than fit into a transaction is answered in several", async () => {
    await settlement.close();
    settlement = await open({ policy: { court: { maxReceipts: 2, maxBytes: 100_000, lookMs: 60_000 } } });
    // Two receipts each, of a tool and of the model.
    const { batchId, txHash } = await settleTurns(4);
    await contestRow(world, txHash, payer(0));
    await untilAnswered(batchId);
    await untilEnded();
    expect(await settlement.ledger.listContests(10, 0)).toMatchObject([{ state: "answered", answers: 4 }]);
  });

  it("is answered in as many parts as their bytes need", async () => {
    await settlement.close();
    settlement = await open({ policy: { court: { maxReceipts: 100, maxBytes: 3_000, lookMs: 60_000 } } });
    const { batchId, txHash } = await settleTurns(4);
    await contestRow(world, txHash, payer(0));
    await untilAnswered(batchId);
    expect((await settlement.ledger.listContests(10, 0))[0]?.answers).toBeGreaterThan(1);
  });

  it("is answered after a start when the daemon was down for most of the window", async () => {
    const { batchId, txHash } = await settleTurns(2);
    await settlement.close();
    await contestRow(world, txHash, payer(0));
    await world.rpc("evm_increaseTime", [3 * DAY_S - 600]);
    await world.rpc("anvil_mine", ["0x100"]);
    settlement = await open();
    await untilAnswered(batchId);
  });

  it("that another process has noted before it stopped is answered by the next one", async () => {
    const { batchId, txHash } = await settleTurns(1);
    await contestRow(world, txHash, payer(0));
    await settlement.close();
    // One that has the ledger and no key.
    settlement = await open({ keys: [] });
    await settlement.engine.tick();
    await world.rpc("anvil_mine", ["0x100"]);
    await settlement.engine.tick();
    expect(await settlement.ledger.listContests(10, 0)).toMatchObject([{ batchId, state: "open", answers: 0 }]);
    await settlement.close();
    settlement = await open();
    await untilAnswered(batchId);
  });

  it("too late is not answered, and said to be given back", async () => {
    const { batchId, txHash } = await settleTurns(1);
    await contestRow(world, txHash, payer(0));
    await world.rpc("evm_increaseTime", [3 * DAY_S]);
    await world.rpc("anvil_mine", ["0x10"]);
    await untilEnded();
    expect(await stageOf(batchId)).toBe(CONTESTED);
    expect(kindsOf("contest_ended")).toMatchObject([{ batchId, ended: "lapsed" }]);
  });

  it("is answered again when a reorg takes the contest and its answer away", async () => {
    const { batchId, txHash } = await settleTurns(2);
    const before = await world.provider.getBlockNumber();
    await contestRow(world, txHash, payer(0));
    await settlement.engine.tick();
    await world.rpc("anvil_mine", ["0x1"]);
    await settlement.engine.tick();
    expect(await stageOf(batchId)).toBe(ANSWERED);
    await world.rpc("anvil_reorg", [(await world.provider.getBlockNumber()) - before, []]);
    expect(await stageOf(batchId)).toBe(0n);
    // The answer's bytes are sent again, to a court that has not heard of the contest yet.
    for (let tick = 0; tick < 3; tick++) {
      settlement.clock.advance(60_000);
      await settlement.engine.tick();
      await world.rpc("anvil_mine", ["0x1"]);
    }
    await contestRow(world, txHash, payer(0));
    await untilAnswered(batchId);
    await untilEnded();
    expect(await settlement.ledger.listContests(10, 0)).toMatchObject([{ state: "answered", answers: 2 }]);
    expect(await world.bonds.creditOf(operator().address)).toBe(DEPOSIT);
  });

  it("that a reorg takes away for good is no longer open", async () => {
    const { batchId, txHash } = await settleTurns(1);
    const before = await world.provider.getBlockNumber();
    await settlement.close();
    await contestRow(world, txHash, payer(0));
    settlement = await open({ keys: [] });
    await settlement.engine.tick();
    await world.rpc("anvil_reorg", [(await world.provider.getBlockNumber()) - before, []]);
    await settlement.close();
    settlement = await open();
    await world.rpc("anvil_mine", ["0x10"]);
    await untilEnded();
    expect(await settlement.ledger.listContests(10, 0)).toMatchObject([{ batchId, state: "undone", answers: 0 }]);
  });

  it("is answered from the archive", async () => {
    await settlement.close();
    const archive = { afterMs: 0, limits: { chargesPerFile: 100, chargesPerBlock: 2 } };
    settlement = await open({ archive: join(folder, `${name}-archive`), policy: { archive } });
    const { batchId, txHash } = await settleTurns(3);
    settlement.clock.advance(1_000);
    expect((await settlement.engine.archive()).charges).toBe(6);
    expect(await settlement.ledger.listNewestCharges(null, null, 10)).toEqual([]);
    await contestRow(world, txHash, payer(0));
    await untilAnswered(batchId);
  });

  it("whose archive is out of reach is a critical alert, and stops no batch", async () => {
    await settlement.close();
    const archive = { afterMs: 0, limits: { chargesPerFile: 100, chargesPerBlock: 2 } };
    settlement = await open({ archive: join(folder, `${name}-archive`), policy: { archive } });
    const { batchId, txHash } = await settleTurns(1);
    settlement.clock.advance(1_000);
    await settlement.engine.archive();
    // It is neither the last batch nor in a block that somebody looks at again.
    await deliver(1, 2);
    await settlement.settleAll();
    await world.rpc("anvil_mine", ["0x40"]);
    await settlement.engine.tick();
    await settlement.close();
    settlement = await open();
    await contestRow(world, txHash, payer(0));
    await deliver(1, 1);
    await settlement.settleAll();
    expect(kindsOf("contest_unanswerable")[0]).toMatchObject({ batchId, reason: expect.stringContaining("archive") });
    expect(await stageOf(batchId)).toBe(CONTESTED);
  });

  it("that the owner of the bond has answered meanwhile holds nobody up", async () => {
    const owner = payer(3);
    await mined(world.bonds.connect(operator()).nameOwner(operator().address, owner.address));
    const { batchId, txHash } = await settleTurns(1);
    await settlement.close();
    await contestRow(world, txHash, payer(0));
    // Planned, and its fee is above the ceiling.
    settlement = await open({ policy: { maxFeePerGasCeiling: 1n } });
    await settlement.engine.tick();
    expect(await settlement.ledger.listUnmined(lower(operator()))).toMatchObject([{ kind: "answer", nonce: null }]);
    const [contest] = await settlement.ledger.listContests(10, 0);
    const receipts = await settlement.engine.receiptsOf(batchId, lower(payer(0)));
    const answer = answerOf(contest as NotedContest, NOTHING_SHOWN, receipts, DEFAULT_POLICY.court);
    if (answer.kind !== "answer") throw new Error(answer.reason);
    await mined(owner.sendTransaction({ to: world.receiptCourt, data: answer.calldata }));
    await settlement.close();
    settlement = await open();
    await deliver(1, 1);
    await settlement.settleAll();
    expect(kindsOf("answer_dropped")).toHaveLength(1);
    expect(kindsOf("contest_unanswerable")).toEqual([]);
    await untilEnded();
    expect(await settlement.ledger.listContests(10, 0)).toMatchObject([{ state: "answered", answers: 1 }]);
  });

  it("of which a thief with the key has shown the last receipt first is answered all the same", async () => {
    const { batchId, txHash } = await settleTurns(2);
    await contestRow(world, txHash, payer(0));
    const receipts = await settlement.engine.receiptsOf(batchId, lower(payer(0)));
    const last = receipts?.receipts.at(-1);
    if (!receipts || !last) throw new Error("the row has receipts");
    const { lines } = (await world.receiptCourt.queryFilter(world.receiptCourt.filters.Contested)).at(-1)?.args ?? {};
    const place = lines?.findIndex(({ toolId }) => toolId === last.toolId) ?? -1;
    const shown = {
      lines: lines?.map(({ toolId, amount }) => ({ toolId, amount })) ?? [],
      receipts: [last],
      places: [place],
      ...receipts.tree.multiProofOf([last.leaf]),
    };
    await mined(world.receiptCourt.connect(operator()).answer(batchId, payer(0).address, shown));
    // A use of the key that the ledger did not give out is looked at twice before all is halted for it.
    for (let ticks = 0; ticks < 5 && (await settlement.ledger.readHalt()) === null; ticks++)
      await settlement.engine.tick();
    await world.rpc("anvil_mine", ["0x20"]);
    await settlement.engine.reconcile({ batches: 10, adopt: true, resume: true });
    await untilAnswered(batchId);
  });

  it("that a thief has settled is a critical alert, and is not answered", async () => {
    const { batchId: previous } = await settleTurns(1);
    const batchId = id("stolen") as Hex;
    const lines = [{ toolIndex: 0, amount: 70_000n }];
    const rows = encodeRows([{ payer: payer(0).address as Address, modelCost: 0n, lines }]);
    const { hash: txHash } = await mined(
      world.router.connect(operator()).settle(previous, batchId, [world.tools[0]?.toolId ?? "0x"], rows),
    );
    await contestRow(world, txHash, payer(0));
    await settlement.engine.tick();
    await settlement.engine.tick();
    expect(kindsOf("contested")).toMatchObject([{ batchId }]);
    expect(kindsOf("contest_unanswerable").at(-1)).toMatchObject({ batchId, reason: "settlement is halted" });
    // Somebody has looked, and takes in what was charged.
    await world.rpc("anvil_mine", ["0x20"]);
    const { resumed } = await settlement.engine.reconcile({ batches: 10, adopt: true, resume: true });
    expect(resumed).toBe(true);
    await until("every nonce to be spent that the thief may have signed for", async () => {
      await world.rpc("anvil_mine", ["0x20"]);
      await settlement.engine.tick();
      return (await settlement.ledger.listOperators()).every(({ fence }) => fence === 0);
    });
    await settlement.engine.tick();
    expect(kindsOf("contest_unanswerable").at(-1)).toMatchObject({
      batchId,
      reason: "the ledger has no receipts for it",
    });
    expect((await settlement.ledger.listContests(10, 0))[0]?.answers).toBe(0);
  });

  it("beside many others waits for its turn, and batches go on between them", async () => {
    await settlement.close();
    settlement = await open({ policy: { maxInFlight: 1 } });
    await deliver(1, 0, 1, 2, 3);
    await settlement.settleAll();
    const { batchId, txHash } = await lastBatch();
    for (const account of world.payers) await contestRow(world, txHash, account);
    await deliver(1, 1);
    const kinds: string[] = [];
    for (let tick = 0; tick < 20; tick++) {
      await settlement.engine.tick();
      for (const { kind } of await settlement.ledger.listUnmined(lower(operator()))) kinds.push(kind);
      await world.rpc("anvil_mine", ["0x1"]);
    }
    for (const account of world.payers) expect(await stageOf(batchId, account)).toBe(ANSWERED);
    expect(kinds.slice(0, 2).sort()).toEqual(["answer", "settle"]);
    expect(kinds.filter((kind) => kind === "answer")).toHaveLength(PAYERS);
    expect((await settlement.ledger.readTotals()).pending).toBe(0n);
  });

  it("is one of many of which several are answered at a time, with room left for batches", async () => {
    await deliver(1, 0, 1, 2, 3);
    await settlement.settleAll();
    const { txHash } = await lastBatch();
    for (const account of world.payers) await contestRow(world, txHash, account);
    await world.rpc("evm_setAutomine", [false]);
    for (let tick = 0; tick < 3; tick++) await settlement.engine.tick();
    const unmined = await settlement.ledger.listUnmined(lower(operator()));
    expect(unmined).toMatchObject([{ kind: "answer" }, { kind: "answer" }]);
    expect(new Set(unmined.map(({ id }) => id)).size).toBe(2);
  });

  it("is answered once by two daemons that share its ledger and its key", async () => {
    const store = await createPostgresStore();
    await settlement.close();
    settlement = await open({ ledger: store.location });
    const other = await open({ ledger: store.location, holder: "other" });
    try {
      const { batchId, txHash } = await settleTurns(1);
      await contestRow(world, txHash, payer(0));
      const nonce = await world.provider.getTransactionCount(operator().address);
      for (let tick = 0; tick < 6; tick++) {
        await Promise.all([settlement.engine.tick(), other.engine.tick()]);
        await world.rpc("anvil_mine", ["0x2"]);
        // One takes over from the other.
        for (const engine of [settlement, other]) engine.clock.advance(20_000);
      }
      expect(await stageOf(batchId)).toBe(ANSWERED);
      expect(await world.provider.getTransactionCount(operator().address)).toBe(nonce + 1);
    } finally {
      await other.close();
      await settlement.close();
      await store.remove();
      settlement = await open();
    }
  });

  const payer = (n: number) => world.payers[n] as KeyedAccount;
  const operator = () => world.operators[0] as KeyedAccount;
  const lower = ({ address }: { address: string }) => address.toLowerCase() as Address;
  const open = (options: Partial<Parameters<typeof openWorldEngine>[1]> = {}) =>
    openWorldEngine(world, { ledger: join(folder, `${name}.db`), ...options });
  const kindsOf = (kind: string) => settlement.events.filter((event) => event.kind === kind);
  const stageOf = async (batchId: string, account = payer(0)) =>
    (await world.receiptCourt.contestOf(batchId, account.address)).stage;

  // So many turns of each of these payers, with a tool and the model.
  async function deliver(count: number, ...payers: number[]) {
    for (const n of payers) {
      for (let i = 0; i < count; i++) {
        turns += 1;
        await settlement.engine.recordTurn({
          id: `turn-${turns}`,
          payer: payer(n).address as Address,
          outcome: "delivered",
          modelCost: microUsdc(30_000n),
          tools: [{ toolId: world.tools[turns % 2]?.toolId ?? "0x", amount: microUsdc(100_000n), calls: 2 }],
          requestHash: id(`turn-${turns}`) as Hex,
          responseHash: NO_HASH,
        } as never);
      }
    }
  }

  async function settleTurns(count: number) {
    await deliver(count, 0);
    await settlement.settleAll();
    return lastBatch();
  }

  async function lastBatch() {
    const [batch] = await settlement.ledger.listBatches(1, 0);
    return { batchId: batch?.batchId ?? "0x", txHash: batch?.inclusion?.txHash ?? "0x" };
  }

  async function untilAnswered(batchId: string) {
    for (let tick = 0; tick < 20 && (await stageOf(batchId)) !== ANSWERED; tick++) {
      await settlement.engine.tick();
      await world.rpc("anvil_mine", ["0x1"]);
    }
    expect(await stageOf(batchId)).toBe(ANSWERED);
  }

  // Until a final block shows the end of every contest.
  async function untilEnded() {
    for (let tick = 0; tick < 20; tick++) {
      await world.rpc("anvil_mine", ["0xa"]);
      settlement.clock.advance(60_000);
      await settlement.engine.tick();
      if ((await settlement.ledger.readGauges()).contests.count === 0) return;
    }
    expect.fail("a contest is still open");
  }
});
