import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { id } from "ethers";
import type { Address, Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Ask, createClient } from "../../../scripts/client/createClient.ts";
import { makeApiKey, registerTool } from "../../../scripts/marketplace/asWallet.ts";
import { type MarketPrograms, startMarket } from "../../../scripts/marketplace/startMarket.ts";
import { type Program, startProgram } from "../../../scripts/process/startProgram.ts";
import { until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { openWorldEngine } from "../../../scripts/world/openWorldEngine.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import type { Environment } from "../../../settlement/config.ts";
import { type ToolId, uuidFromToolId } from "../../../settlement/domain/toolId.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import type { ReceiptsView } from "../../../settlement/views/batches/receipts.ts";
import { runInProcess } from "../../commands/runInProcess.ts";
import { type RpcProxy, startRpcProxy } from "../../faults/proxies/rpcProxy.ts";
import { GAS, startTool, type ToolServer } from "../../marketplace/startTool.ts";
import { environmentOf, SERVICE_TOKEN, settleCommand } from "../daemon/testDaemon.ts";
import { writeKeystore } from "../world/writeKeystore.ts";
import { contestRow } from "./contestRow.ts";
import { recordWorld } from "./recordWorld.ts";

const NETWORK = "base";
const DAY_S = 86_400;
const DEPOSIT = 1_000_000n;
const PRICE = 100_000n;
const CALLS = 3;
// Deep enough for a reorg that undoes nothing final.
const FINALITY_BLOCKS = 10;
const [NONE, CONTESTED, ANSWERED, REFUNDED] = [0n, 1n, 2n, 3n];
const NO_TOOL = `0x${"0".repeat(32)}`;
const PASSWORD = "the keystore's password";

type Seen = { batchId: Hex; verdict: string; court: string; receipts: number; chargedUsd: string; findings: string[] };
type Watched = { code: number; inOrder: boolean; batches: Seen[]; doubles: { again: Hex; court: string }[] };

// Nothing here stands in for anything: the chain, the daemon, the marketplace and the tool are programs and servers of their own,
// the agent buys with an API key, and `watch` knows no more than a payer does. One story, in which each test goes on from the last.
describe("a payer who watches a real marketplace", () => {
  const folder = mkdtempSync(join(DISKLESS, "watch-"));
  const archive = join(folder, "archive");
  let world: LocalWorld;
  let settings: Environment;
  let market: MarketPrograms;
  let tool: ToolServer;
  let ask: Ask;
  let keys: string[];
  // The one batch that the daemon has settled.
  let honest: { batchId: Hex; txHash: Hex };

  beforeAll(async () => {
    world = await startWorld({ tools: 1, payers: 2, finalityBlocks: FINALITY_BLOCKS });
    await recordWorld(world, NETWORK, folder);
    const keystore = join(folder, "operator.json");
    await writeKeystore(keystore, operator().privateKey, PASSWORD);
    const own = {
      SETTLEMENT_KEYSTORES: keystore,
      SETTLEMENT_KEYSTORE_PASSWORD: PASSWORD,
      SETTLEMENT_ARCHIVE: archive,
      SETTLEMENT_TICK_MS: "50",
      SETTLEMENT_FLUSH_SECONDS: "1",
      // Both payers are in one batch, so that a proof of some of its leaves needs others.
      SETTLEMENT_BATCH_CHARGES: `${CALLS + 1}`,
      SETTLEMENT_BATCH_SECONDS: "3600",
    };
    settings = { ...(await environmentOf(world, join(folder, "ledger.db"))), ...own };
    market = await startMarket(world, folder, {
      serviceToken: SERVICE_TOKEN,
      publicUrl: "https://market.example",
      daemon: own,
    });
    ask = createClient({ url: market.url, serviceToken: "" });
    tool = await startTool({ methods: [{ ...GAS, _meta: { pricing: { executeUsd: "0.10" } } }] });
    const registration = { toolId: toolUuid(), endpoint: tool.url, name: "Gas", description: "Prices" };
    const developer = world.tools[0]?.developer as KeyedAccount;
    expect(await registerTool(ask, developer, registration)).toMatchObject({ listed: true });
    keys = [];
    for (const account of world.payers) keys.push(await makeApiKey(ask, account, "agent"));
  });

  afterAll(async () => {
    await market?.stop();
    await tool?.close();
    await world?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("is told that all is right by the receipts that the marketplace gives it", async () => {
    const before = await balance();
    for (let call = 0; call < CALLS; call++) await buy(0);
    await buy(1);
    honest = await until("the batch to be final", async () => {
      await mine();
      const { body } = await askDaemon("GET", "/v1/batches?limit=10");
      const [newest] = body.batches as { batchId: Hex; txHash: Hex; state: string }[];
      return newest?.state === "final" && newest;
    });
    expect(await balance()).toBe(before - BigInt(CALLS) * PRICE);
    for (const [n, receipts] of [CALLS, 1].entries()) {
      expect(await watch(n)).toMatchObject({
        code: 0,
        inOrder: true,
        batches: [{ batchId: honest.batchId, verdict: "right", receipts, court: "none" }],
      });
    }
    // With the key of somebody else it has no receipts, and takes nothing for right.
    expect(await watch(0, { key: keys[1] })).toMatchObject({
      code: 1,
      inOrder: false,
      batches: [{ verdict: "wrong" }],
    });
  });

  it("is told the same when the daemon has the batch in its archive alone", async () => {
    const policy = { archive: { afterMs: 0, limits: { chargesPerFile: 100, chargesPerBlock: 2 } } };
    const settlement = await openWorldEngine(world, { ledger: join(folder, "ledger.db"), archive, keys: [], policy });
    try {
      settlement.clock.advance(60_000);
      expect(await settlement.engine.archive()).toMatchObject({ charges: CALLS + 1, held: null });
    } finally {
      await settlement.close();
    }
    expect(await watch(0)).toMatchObject({ code: 0, batches: [{ verdict: "right", receipts: CALLS }] });
  });

  it("and contests what it owes is answered by the daemon alone, and has lost the deposit", async () => {
    const before = await balance();
    await contestRow(world, honest.txHash, payer());
    await until("the daemon to answer", async () => (await stageOf(honest.batchId)) === ANSWERED);
    expect(await world.bonds.creditOf(operator().address)).toBe(DEPOSIT);
    // There is nothing left to be had, and it is shown with the receipts that the daemon has shown to the court.
    expect(await watch(0, {}, "--contest")).toMatchObject({
      code: 0,
      batches: [{ verdict: "right", receipts: CALLS, court: "answered" }],
    });
    expect(await balance()).toBe(before - DEPOSIT);
  });

  it("gets back every unit that a thief takes with the operator's key, since the daemon has no receipts for it", async () => {
    const before = await balance();
    const again = await paidAgain();
    const stolen = [id("a batch of the thief") as Hex, again.batchId];
    await steal([stolen[0] as Hex, 70_000n], [again.batchId, PRICE]);
    await goOn();
    const nonce = await world.provider.getTransactionCount(operator().address);
    const seen = await watch(0);
    expect(seen).toMatchObject({ code: 1, inOrder: false });
    expect(seen.batches.map(({ batchId, verdict, court }) => [batchId, verdict, court])).toEqual([
      [honest.batchId, "right", "answered"],
      ...stolen.map((batchId) => [batchId, "wrong", "none"]),
    ]);
    for (let run = 0; run < 2; run++) {
      const { batches } = await watch(0, {}, "--contest");
      expect(batches.slice(1)).toMatchObject(stolen.map((batchId) => ({ batchId, court: "contested" })));
      // However often it looks, one deposit is at stake for each.
      expect(await balance()).toBe(before - 70_000n - PRICE - 2n * DEPOSIT);
    }
    for (const batchId of stolen) {
      await market.daemon.printed(new RegExp(`batch ${batchId}, [^"]* cannot be answered: the ledger has no receipts`));
    }
    expect(await world.provider.getTransactionCount(operator().address)).toBe(nonce);
    await pass(3 * DAY_S);
    expect(await watch(0, {}, "--contest")).toMatchObject({
      code: 0,
      inOrder: true,
      batches: [{}, ...stolen.map(() => ({ court: "refunded" }))],
    });
    expect(await balance()).toBe(before);
    expect(await world.provider.getTransactionCount(operator().address)).toBe(nonce);
  });

  describe("and goes on watching", () => {
    const batchId = id("another batch of the thief") as Hex;
    const amount = 50_000n;
    let before: bigint;
    let stolenIn: number;
    let proxy: RpcProxy;
    let program: Program;

    beforeAll(async () => {
      await makeBondWhole();
      before = await balance();
      const [transaction] = await steal([batchId, amount]);
      stolenIn = await world.provider.getBlockNumber();
      proxy = await startRpcProxy(world.url);
      proxy.rule({
        method: "eth_getTransactionReceipt",
        when: ({ params }) => params[0] === transaction,
        times: 1,
        action: { kind: "answer", result: () => null },
      });
      const words = [
        "--contest",
        "--follow",
        "--every",
        "1",
        "--yes",
        "--network",
        NETWORK,
        "--marketplace",
        market.url,
      ];
      program = startProgram("node_modules/.bin/hardhat", ["watch", ...words], {
        env: {
          ...process.env,
          NO_COLOR: "1",
          BASE_RPC_URL: proxy.url,
          BASE_KEY: payer().privateKey,
          DEPLOYMENTS_FOLDER: folder,
          MARKETPLACE_API_KEY: keys[0],
        },
      });
    });

    afterAll(async () => {
      await program?.stop();
      await proxy?.stop();
    });

    it("looks again at what a node that is behind did not show", async () => {
      await program.printed(/A batch, transaction 0x/);
      await program.printed(/contested, the operator can answer/);
      expect(await stageOf(batchId)).toBe(CONTESTED);
    });

    it("contests again, through a node that answers with errors, what a reorg took away, and spends one deposit", async () => {
      const [first] = await contestsOf(batchId);
      const relent = proxy.rule({ method: null, action: { kind: "error", error: { code: -32005, message: "later" } } });
      await program.printed(/Looking failed, and goes on: [^\n]*later/);
      await world.rpc("anvil_reorg", [(await world.provider.getBlockNumber()) - stolenIn, []]);
      expect(await stageOf(batchId)).toBe(NONE);
      expect(await balance()).toBe(before - amount);
      relent();
      await until("the contest to be made again", async () => (await stageOf(batchId)) === CONTESTED);
      const contests = await contestsOf(batchId);
      expect(contests).toHaveLength(1);
      expect(contests).not.toContain(first);
      // It has looked once more since.
      await program.printed(/contested, the operator can answer/, 2);
      expect(await balance()).toBe(before - amount - DEPOSIT);
    });

    it("collects the refund and the deposit as soon as there is no answer", async () => {
      await pass(3 * DAY_S);
      await until("the refund and the deposit", async () => (await balance()) === before);
      expect(await stageOf(batchId)).toBe(REFUNDED);
      // Of this batch as of the two before it; then it sends nothing that it would have to wait for.
      await program.printed(/court +given back/, 3);
      program.signal("SIGINT");
      expect((await program.ended).code, program.output()).toBe(0);
    });
  });

  it("proves that a charge was paid twice with receipts that the thief has shown to the court alone", async () => {
    await makeBondWhole();
    const before = await balance();
    const { batchId, receipt } = await paidAgain("a third time");
    await steal([batchId, PRICE]);
    expect((await watch(0, {}, "--contest")).batches.at(-1)).toMatchObject({ batchId, court: "contested" });
    const lines = [
      { toolId: NO_TOOL, amount: 0n },
      { toolId: receipt.toolId, amount: PRICE },
    ];
    const shown = { lines, receipts: [receipt], places: [1], proof: [], proofFlags: [] };
    await mined(world.receiptCourt.connect(operator()).answer(batchId, payer().address, shown));
    expect(await watch(0)).toMatchObject({
      code: 1,
      doubles: [{ first: honest.batchId, again: batchId, court: "provable" }],
    });
    expect(await watch(0, {}, "--contest")).toMatchObject({
      code: 0,
      doubles: [{ again: batchId, court: "given back" }],
    });
    // It has the charge back with a premium of as much, and the deposits of both rows whose receipts show the double charge: of this
    // one, and of the honest one, which it had contested before.
    expect(await balance()).toBe(before + PRICE + DEPOSIT);
  });

  const operator = () => world.operators[0] as KeyedAccount;
  const payer = () => world.payers[0] as KeyedAccount;
  const toolId = () => world.tools[0]?.toolId as ToolId;
  const toolUuid = () => uuidFromToolId(toolId());
  const balance = () => world.usdc.balanceOf(payer().address);
  const stageOf = async (batchId: Hex) => (await world.receiptCourt.contestOf(batchId, payer().address)).stage;
  const mine = (blocks = 1) => world.rpc("anvil_mine", [`0x${blocks.toString(16)}`]);
  const askDaemon: Ask = (...request) =>
    createClient({ url: market.daemonUrl, serviceToken: SERVICE_TOKEN })(...request);

  async function buy(n: number): Promise<void> {
    const call = { toolId: toolUuid(), toolName: GAS.name, args: {} };
    const options = { key: keys[n] as string, idempotencyKey: randomUUID() };
    const { status, text } = await ask("POST", "/api/v1/tools/execute", call, options);
    expect(status, text).toBe(200);
  }

  // As the payer runs it, with nothing but its own keys.
  async function watch(n: number, { key = keys[n] } = {}, ...words: string[]): Promise<Watched> {
    const { code, stdout } = await runInProcess(
      ["watch", "--marketplace", market.url, "--network", NETWORK, "--json", "--yes", ...words],
      {
        BASE_RPC_URL: world.url,
        BASE_KEY: world.payers[n]?.privateKey,
        DEPLOYMENTS_FOLDER: folder,
        MARKETPLACE_API_KEY: key,
      },
    );
    return { code, ...JSON.parse(stdout) };
  }

  // A charge of the honest batch, written into a receipt of another one, and the root of a batch that has only this.
  async function paidAgain(why = "again") {
    const path = `/api/v1/batches/${honest.batchId}/receipts`;
    const { receipts } = (await ask("GET", path, undefined, { key: keys[0] as string }))
      .body as unknown as ReceiptsView;
    const [first] = receipts;
    if (first === undefined) throw new Error("there are no receipts");
    const { leaf: _, path: __, place: ___, ...paid } = first;
    const receipt = { ...paid, attempts: 1, response: id(why) };
    return { receipt, batchId: (await world.receiptCourt.leafOf(receipt)) as Hex };
  }

  // Settles rows of the payer with the operator's key, all in one block.
  async function steal(...batches: readonly (readonly [batchId: Hex, amount: bigint])[]): Promise<string[]> {
    const router = world.router.connect(operator());
    let previous = await router.headOf(operator().address);
    let nonce = await operator().getNonce();
    const hashes: string[] = [];
    await world.rpc("evm_setAutomine", [false]);
    for (const [batchId, amount] of batches) {
      const lines = [{ toolIndex: 0, amount }];
      const rows = encodeRows([{ payer: payer().address as Address, modelCost: 0n, lines }]);
      const { hash } = await router.settle(previous, batchId, [toolId()], rows, { nonce, gasLimit: 1_000_000n });
      hashes.push(hash);
      previous = batchId;
      nonce += 1;
    }
    await mine();
    await world.rpc("evm_setAutomine", [true]);
    for (const [batchId] of batches) expect(await router.settledAt(batchId)).toBeGreaterThan(0n);
    return hashes;
  }

  // What was given back has left the operator's bond, and with less than it needs nobody settles with its key.
  async function makeBondWhole(): Promise<void> {
    const { bonds, usdc } = world;
    const { address } = operator();
    const { limit } = await world.router.operatorLimit(address);
    const missing = (await bonds.requiredBond(limit)) - (await bonds.bondOf(address)).amount;
    await mined(usdc.mint(address, missing));
    await mined(usdc.connect(operator()).approve(bonds, missing));
    await mined(bonds.connect(operator()).post(address, missing));
  }

  // The operator looks at what stopped its daemon, and lets it go on: it could sign again.
  async function goOn(): Promise<void> {
    await market.daemon.printed(/which is not in the ledger/);
    await market.daemon.printed(/was used elsewhere at nonce/);
    await mine(2 * FINALITY_BLOCKS);
    const { code, stdout, stderr } = await settleCommand(["reconcile", "--adopt", "--resume", "--json"], settings);
    expect(JSON.parse(stdout), `${code} ${stderr}`).toMatchObject({ resumed: true });
    const ledger = new DatabaseSync(join(folder, "ledger.db"), { readOnly: true });
    const isFenced = ledger.prepare("SELECT 1 FROM operators WHERE fence <> 0");
    await until("every nonce to be spent that the thief may have signed for", async () => {
      await mine();
      return isFenced.get() === undefined;
    });
    ledger.close();
  }

  async function contestsOf(batchId: Hex): Promise<string[]> {
    const { receiptCourt } = world;
    const found = await receiptCourt.queryFilter(receiptCourt.filters.Contested(batchId, payer().address), 0);
    return found.map(({ transactionHash }) => transactionHash);
  }

  async function pass(seconds: number): Promise<void> {
    // From the newest block, whose time is ahead of the clock where many blocks were made at once.
    const latest = await world.provider.getBlock("latest");
    await world.rpc("evm_setNextBlockTimestamp", [(latest?.timestamp ?? 0) + seconds]);
    await mine();
  }
});
