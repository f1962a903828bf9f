import { id } from "ethers";
import type { Address, Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PATIENCE_MS, until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import type { KeyedAccount } from "../../../scripts/world/parties.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import type { Chain } from "../../../settlement/chain/chain.ts";
import { type ChainOptions, createChain } from "../../../settlement/chain/createChain.ts";
import { encodeSettle, NO_BATCH } from "../../../settlement/chain/router/settleCall.ts";
import {
  type Behaviour,
  type ScriptedRpc,
  startScriptedRpc,
} from "../../../settlement/chain/rpc/testing/scriptedRpc.ts";
import { createSigner, type TransactionToSign } from "../../../settlement/chain/signer/signer.ts";
import { systemClock } from "../../../settlement/clock.ts";
import type { BatchRow } from "../../../settlement/domain/batch/batch.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import { type RpcAnswer, type RpcProxy, startRpcProxy } from "../../faults/proxies/rpcProxy.ts";

const BALANCE = 10_000_000n;
const OPERATOR_LIMIT = 100_000_000n;
const UNLISTED = `0x${"7".repeat(32)}` as ToolId;

let local: LocalWorld;
let chain: Chain;
let router: Address;
let snapshot: unknown;

beforeAll(async () => {
  local = await startWorld({ tools: 3, payers: 260, payerBalance: BALANCE, operatorLimit: OPERATOR_LIMIT });
  router = (await local.router.getAddress()) as Address;
  chain = await connect();
});
afterAll(() => local?.stop());

// Every test starts from the same chain, and with an empty mempool: what is left in one is mined some time later, with the
// nonce of somebody else's transaction.
beforeEach(async () => {
  snapshot = await local.rpc("evm_snapshot");
});
afterEach(async () => {
  await local.rpc("anvil_dropAllTransactions");
  await local.rpc("evm_setAutomine", [true]);
  await local.rpc("evm_revert", [snapshot]);
});

function connect(options: Partial<ChainOptions> = {}): Promise<Chain> {
  return createChain({
    addresses: [{ name: "anvil", url: local.url }],
    chainId: local.chainId,
    router,
    clock: systemClock,
    random: Math.random,
    ...options,
  });
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new RangeError(`there is no item ${index}`);
  return item;
}

it("a tool's listing says the highest price that its stake is enough for, as the registry counts by now", async () => {
  const { admin } = local.parties;
  const tool = at(local.tools, 0);
  const maxPrice = async () => (await chain.listings([tool.toolId]))[0]?.maxPrice;
  expect(await maxPrice()).toBe(tool.stake / 100n);
  const { minimumStake, bountyBps, maxPenalty, dailyPenaltyBps, earningMultiple } = await local.staking.parameters();
  const stricter = { minimumStake, stakeMultiplier: 1_000n, bountyBps, maxPenalty, dailyPenaltyBps, earningMultiple };
  const { to, data } = await local.staking.setParameters.populateTransaction(stricter);
  await mined(local.manager.connect(admin).schedule(to, data, 0));
  await local.rpc("evm_increaseTime", [8 * 24 * 3_600]);
  await mined(local.manager.connect(admin).execute(to, data));
  expect(await maxPrice()).toBe(tool.stake / 1_000n);
  expect(await chain.listings([])).toEqual([]);
});

describe("a tool's stake, of which what is absorbed is a part,", () => {
  let liar: RpcProxy;
  let through: Chain;
  beforeEach(async () => {
    liar = await startRpcProxy(local.url);
    through = await connect({
      addresses: [
        { name: "liar", url: liar.url },
        { name: "anvil", url: local.url },
      ],
    });
  });
  afterEach(() => liar.stop());

  const word = (value: bigint) => value.toString(16).padStart(64, "0");
  const stakes = () => through.stakes([at(local.tools, 0).toolId, UNLISTED]);

  it("is what every endpoint says, and nothing for a tool that is not listed", async () => {
    expect(await stakes()).toEqual([at(local.tools, 0).stake, 0n]);
    expect(await chain.stakes([at(local.tools, 0).toolId])).toEqual([at(local.tools, 0).stake]);
  });

  it("is not what the preferred endpoint makes up", async () => {
    const { stake } = at(local.tools, 0);
    const exchanged = (real: RpcAnswer) => ({
      ...real,
      result: String(real.result).replaceAll(word(stake), word(1_000n * stake)),
    });
    liar.rule({ method: "eth_call", action: { kind: "exchange", answer: exchanged } });
    expect(await through.listings([at(local.tools, 0).toolId])).toMatchObject([{ stake: 1_000n * stake }]);
    expect(await stakes()).toEqual([null, 0n]);
  });

  it("is not what one of two says while the other one does not answer", async () => {
    const silence = liar.rule({
      method: "eth_call",
      action: { kind: "error", error: { code: -32000, message: "no" } },
    });
    expect(await stakes()).toEqual([null, null]);
    silence();
    expect(await stakes()).toEqual([at(local.tools, 0).stake, 0n]);
  });
});

const payer = (index: number) => at(local.payers, index).address;
const tool = (index: number) => at(local.tools, index).toolId;
const operator = () => at(local.operators, 0);

const settleCall = (
  batchId: Hex,
  rows: readonly BatchRow[],
  toolIds: readonly ToolId[] = [tool(0), tool(1), tool(2)],
  previous = NO_BATCH,
) => encodeSettle({ previous, batchId, toolIds, rows: inOrder(rows, (row) => row.payer) });

// The router takes rows in the order of their payers.
const inOrder = <T>(items: readonly T[], payerOf: (item: T) => Address) =>
  items.toSorted((a, b) => (payerOf(a).toLowerCase() < payerOf(b).toLowerCase() ? -1 : 1));

const rowOf = (index: number, amount = 1_000_000n): BatchRow => ({
  payer: payer(index),
  modelCost: 0n,
  lines: [{ toolIndex: 0, amount }],
});

async function sign(calldata: Hex, changes: Partial<TransactionToSign> = {}, account: KeyedAccount = operator()) {
  const { baseFeePerGas } = await chain.head();
  return createSigner(account.privateKey).sign({
    chainId: local.chainId,
    nonce: await chain.nonce(account.address, "latest"),
    to: router,
    calldata,
    gasLimit: 3_000_000n,
    maxFeePerGas: 2n * baseFeePerGas + 1_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    ...changes,
  });
}

// Sends a batch and waits until anvil has mined it.
async function settle(batchId: Hex, rows: readonly BatchRow[], toolIds?: readonly ToolId[]): Promise<Hex> {
  const previous = (await local.router.headOf(operator().address)) as Hex;
  const { raw, txHash } = await sign(settleCall(batchId, rows, toolIds, previous));
  await sendAndWait(raw, txHash);
  return txHash;
}

async function sendAndWait(raw: Hex, txHash: Hex): Promise<void> {
  expect(await chain.send(raw)).toEqual({ kind: "accepted" });
  await included(txHash);
}

// Whether it has succeeded or not.
const included = (txHash: Hex) => until(`${txHash} to be mined`, () => local.provider.getTransactionReceipt(txHash));

// Lets an account of the local chain do something, without its key.
async function act(from: Address, { to, data }: { to?: unknown; data?: unknown }): Promise<Hex> {
  await local.rpc("anvil_impersonateAccount", [from]);
  const hash = (await local.rpc("eth_sendTransaction", [{ from, to, data }])) as Hex;
  await local.rpc("anvil_stopImpersonatingAccount", [from]);
  await included(hash);
  return hash;
}

const simulate = (calldata: Hex, from: Address = operator().address) => chain.simulate({ from, to: router, calldata });

const batchIdOf = (name: string) => id(name) as Hex;

describe("connecting", () => {
  it("reads the insurance account from the stake registry", () => {
    expect(chain).toMatchObject({ chainId: 8453, router, insurance: local.parties.insurance.address });
  });

  it("is refused if the endpoint serves another chain", async () => {
    await expect(connect({ chainId: 1 })).rejects.toMatchObject({ code: "chain_mismatch" });
  });

  it("is refused if there is nothing at the router's address", async () => {
    await expect(connect({ router: payer(0) })).rejects.toMatchObject({
      code: "chain_mismatch",
      message: `there is no contract at ${payer(0)} on chain 8453`,
    });
  });

  it("is refused if another contract is at the router's address", async () => {
    const usdc = (await local.usdc.getAddress()) as Address;
    await expect(connect({ router: usdc })).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringContaining("is not a ContextRouter"),
    });
  });

  it("is refused if the router's address is none", async () => {
    await expect(connect({ router: "0x1234" })).rejects.toMatchObject({ code: "invalid_config" });
  });

  it("is to be tried again if no endpoint answers", async () => {
    const addresses = [{ name: "nobody", url: "http://127.0.0.1:9" }];
    await expect(connect({ addresses, readRetries: 0 })).rejects.toMatchObject({
      code: "chain_unavailable",
      retryable: true,
    });
  });

  describe("through a second endpoint", () => {
    let first: ScriptedRpc;
    afterEach(() => first.stop());

    it.each<[name: string, behaviour: Behaviour]>([
      ["answers with HTTP status 500", { kind: "status", status: 500 }],
      ["answers with garbage", { kind: "text", text: "<html>" }],
      ["hangs", { kind: "hang" }],
      ["serves another chain", { kind: "result", result: "0x1" }],
    ])("works in every verb if the first %s", async (_, behaviour) => {
      first = await startScriptedRpc(() => behaviour);
      const addresses = [
        { name: "first", url: first.url },
        { name: "anvil", url: local.url },
      ];
      // The other one answers within it, however busy the machine is; what hangs is waited for that long.
      const timeoutMs = behaviour.kind === "hang" ? 8_000 : PATIENCE_MS;
      const through = await connect({ addresses, timeoutMs });
      expect(await through.spendable([payer(0)])).toMatchObject([{ amount: BALANCE }]);
      const { raw, txHash } = await sign(settleCall(batchIdOf("failover"), [rowOf(0)]));
      expect(await through.send(raw)).toEqual({ kind: "accepted" });
      await included(txHash);
      expect(await through.receipt(txHash)).toMatchObject({ status: "success" });
    });
  });
});

describe("reading", () => {
  it("tells what payers can spend, more of them than one call takes, in the order asked", async () => {
    await mined(local.usdc.mint(payer(259), 5n));
    const payers = local.payers.map(({ address }) => address);
    const results = await chain.spendable(payers);
    const head = await chain.head();
    expect(results.map((result) => result.payer)).toEqual(payers);
    expect(at(results, 0)).toEqual({
      payer: payer(0),
      atBlock: head.number,
      timestamp: BigInt(head.timestampMs / 1_000),
      amount: BALANCE,
      balance: BALANCE,
      allowance: 2n ** 256n - 1n,
      dailyCapLeft: 2n ** 256n - 1n,
      prepaid: 0n,
      consentRequired: false,
      budgets: new Map(),
    });
    expect(at(results, 259).amount).toBe(BALANCE + 5n);
  });

  it("tells of payers what each of several endpoints says, and leaves out one that does not answer", async () => {
    const word = (value: bigint) => value.toString(16).padStart(64, "0");
    const liar = await startRpcProxy(local.url);
    try {
      const poor = (real: RpcAnswer) => ({ ...real, result: String(real.result).replaceAll(word(BALANCE), word(0n)) });
      const lies = liar.rule({ method: "eth_call", action: { kind: "exchange", answer: poor } });
      const addresses = [
        { name: "liar", url: liar.url },
        { name: "anvil", url: local.url },
      ];
      const through = await connect({ addresses });
      expect(await through.spendable([payer(0)])).toMatchObject([{ balance: 0n }]);
      const each = () => through.spendableByEach([payer(0)], []);
      expect(await each()).toMatchObject([[{ balance: 0n }], [{ balance: BALANCE, refunding: 0n }]]);
      lies();
      liar.rule({ method: "eth_call", action: { kind: "error", error: { code: -32000, message: "no" } } });
      expect(await each()).toMatchObject([[{ payer: payer(0), balance: BALANCE }]]);
      expect(await chain.spendableByEach([payer(0)], [])).toEqual([]);
    } finally {
      await liar.stop();
    }
  });

  it("tells what accounts have earned, more of them than one call takes", async () => {
    await settle(batchIdOf("credits"), [rowOf(0, 1_000_000n), rowOf(1, 2_000_000n)]);
    const developer = at(local.tools, 0).developer.address;
    const accounts = [...local.payers.map(({ address }) => address), developer];
    const credits = await chain.credits(accounts);
    expect(credits).toHaveLength(accounts.length);
    expect(credits.at(-1)).toBe(2_700_000n);
    expect(credits.slice(0, -1).every((credit) => credit === 0n)).toBe(true);
    expect(await chain.credits([])).toEqual([]);
  });

  it("tells the head, its base fee, and the hash at a height", async () => {
    const head = await chain.head();
    expect(head.number).toBe(BigInt(await local.provider.getBlockNumber()));
    expect(head.baseFeePerGas).toBeGreaterThan(0n);
    expect(await chain.blockHash(head.number)).toBe(head.hash);
    expect(await chain.blockHash(head.number + 1_000n)).toBeNull();
  });

  it("tells what is settled and mined at the head and at a finalized block", async () => {
    const { address } = operator();
    const nonce = await chain.nonce(address, "latest");
    const batchId = batchIdOf("finality");
    await settle(batchId, [rowOf(0)]);
    expect(await chain.nonce(address, "latest")).toBe(nonce + 1);
    expect(await chain.nonce(address, await chain.finalized())).toBe(nonce);
    expect(await chain.settledAt(batchId, "latest")).toBe(BigInt((await chain.head()).timestampMs / 1_000));
    expect(await chain.settledAt(batchId, await chain.finalized())).toBe(0n);

    await local.rpc("anvil_mine", ["0x2"]);
    expect((await chain.finalized()).number).toBe((await chain.head()).number - 2n);
    expect(await chain.nonce(address, await chain.finalized())).toBe(nonce + 1);
    expect(await chain.settledAt(batchId, await chain.finalized())).toBe(await chain.settledAt(batchId, "latest"));
  });

  it("takes a root for settled by a final block if one endpoint has seen it, whatever the first one says", async () => {
    const batchId = batchIdOf("denied");
    await settle(batchId, [rowOf(0)]);
    await local.rpc("anvil_mine", ["0x2"]);
    const finalized = await chain.finalized();
    const word = (value: number) => `0x${value.toString(16).padStart(64, "0")}`;
    const liar = await startScriptedRpc(({ method }) => ({
      kind: "result",
      result: method === "eth_chainId" ? "0x2105" : word(1),
    }));
    try {
      const addresses = [
        { name: "liar", url: liar.url },
        { name: "anvil", url: local.url },
      ];
      const through = await connect({ addresses });
      liar.script = ({ method }) => ({ kind: "result", result: method === "eth_chainId" ? "0x2105" : word(0) });
      expect(await through.settledAt(batchId, "latest")).toBe(0n);
      expect(await through.settledAt(batchId, finalized)).toBe(await chain.settledAt(batchId, "latest"));
    } finally {
      await liar.stop();
    }
  });

  it("takes blocks of a given depth for final if it is told to", async () => {
    const deep = await connect({ finalityDepthBlocks: 5n });
    const nonce = await chain.nonce(operator().address, "latest");
    const batchId = batchIdOf("depth");
    await settle(batchId, [rowOf(0)]);
    await local.rpc("anvil_mine", ["0x4"]);
    expect((await deep.finalized()).number).toBe((await deep.head()).number - 5n);
    expect(await deep.settledAt(batchId, await deep.finalized())).toBe(0n);
    await local.rpc("anvil_mine", ["0x1"]);
    expect(await deep.settledAt(batchId, await deep.finalized())).toBeGreaterThan(0n);
    expect(await deep.nonce(operator().address, await deep.finalized())).toBe(nonce + 1);
  });

  it("names the way out if the node does not know which block is final", async () => {
    const forward = await startScriptedRpc(({ method, params }) => {
      if (method === "eth_chainId") return { kind: "result", result: "0x2105" };
      if (params[0] === "finalized") return { kind: "error", code: -32602, message: "invalid block tag" };
      // Enough of a router to connect to: every read answers with the same address.
      return { kind: "result", result: `0x${"1".padStart(64, "0")}` };
    });
    try {
      const old = await connect({ addresses: [{ name: "old", url: forward.url }] });
      await expect(old.finalized()).rejects.toMatchObject({
        code: "chain_unavailable",
        message: expect.stringContaining("set a depth from which blocks are taken for final"),
      });
    } finally {
      await forward.stop();
    }
  });

  it("finds a batch by its root, whoever sent it and however long ago", async () => {
    const batchId = batchIdOf("found");
    expect(await chain.receiptOfBatch(batchId)).toBeNull();
    await local.rpc("anvil_mine", ["0x10", "0x2"]);
    const txHash = await settle(batchId, [rowOf(0)]);
    await settle(batchIdOf("another"), [rowOf(1)]);
    await local.rpc("evm_increaseTime", [100_000]);
    await local.rpc("anvil_mine", ["0x20", "0x5"]);
    expect(await chain.receiptOfBatch(batchId)).toEqual(await chain.receipt(txHash));
  });

  it("lists the batches between two blocks, both included, in several searches", async () => {
    const narrow = await connect({ maxLogRangeBlocks: 2n });
    const found = [];
    for (const name of ["one", "two", "three", "four"]) {
      const txHash = await settle(batchIdOf(name), [rowOf(0)]);
      const { number: blockNumber } = await chain.head();
      const operator = local.parties.operator.address.toLowerCase();
      found.push({ batchId: batchIdOf(name), operator, txHash, blockNumber });
      await local.rpc("anvil_mine", ["0x2"]);
    }
    const [from, to] = [at(found, 0).blockNumber, at(found, 3).blockNumber];
    expect(await narrow.settledBatches(from, to)).toEqual(found);
    expect(await narrow.settledBatches(from + 1n, to - 1n)).toEqual(found.slice(1, 3));
    expect(await chain.settledBatches(from, to)).toEqual(found);
  });

  it("knows fees and balances", async () => {
    expect(await chain.priorityFee()).toBeGreaterThan(0n);
    expect(await chain.balance(payer(0))).toBe(await local.provider.getBalance(payer(0)));
  });
});

describe("the outcome of a batch", () => {
  it("is read row by row: who was charged, who was not and why, and which line was refused", async () => {
    const batchId = batchIdOf("outcome");
    await mined(local.usdc.blacklist(payer(1)));
    await act(payer(2), await local.usdc.approve.populateTransaction(router, 999_999n));
    await act(payer(3), await local.usdc.transfer.populateTransaction(payer(9), BALANCE - 1n));
    await act(payer(4), await local.router.setDailyCap.populateTransaction(999_999n));
    const rows: BatchRow[] = [
      { payer: payer(0), modelCost: 300n, lines: [{ toolIndex: 0, amount: 1_000_005n }] },
      rowOf(1),
      rowOf(2),
      rowOf(3),
      rowOf(4),
      {
        payer: payer(5),
        modelCost: 0n,
        lines: [
          { toolIndex: 1, amount: 700_000n },
          { toolIndex: 2, amount: 50_000n },
        ],
      },
    ];
    const txHash = await settle(batchId, rows, [tool(0), UNLISTED, tool(2)]);

    const receipt = await chain.receipt(txHash);
    expect(receipt).toMatchObject({ txHash, status: "success", blockNumber: (await chain.head()).number });
    expect(receipt?.batches).toEqual(
      new Map([
        [
          batchId,
          {
            charged: 1_050_305n,
            treasuryShare: 105_300n,
            failed: inOrder(
              [
                { chargedTo: payer(1), amount: 1_000_000n, reason: "blacklisted" },
                { chargedTo: payer(2), amount: 1_000_000n, reason: "allowance" },
                { chargedTo: payer(3), amount: 1_000_000n, reason: "balance" },
                { chargedTo: payer(4), amount: 1_000_000n, reason: "daily_cap" },
              ],
              (row) => row.chargedTo,
            ),
            refused: [{ chargedTo: payer(5), toolId: UNLISTED, amount: 700_000n, reason: "unlisted" }],
            paid: [
              {
                toolId: tool(0),
                payee: at(local.tools, 0).developer.address,
                amount: 1_000_005n,
                developerShare: 900_005n,
              },
              {
                toolId: tool(2),
                payee: at(local.tools, 2).developer.address,
                amount: 50_000n,
                developerShare: 45_000n,
              },
            ],
          },
        ],
      ]),
    );
  });

  it("is none for a transaction that reverted, and none for a direct payment", async () => {
    const batchId = batchIdOf("twice");
    await settle(batchId, [rowOf(0)]);
    const { raw, txHash } = await sign(settleCall(batchId, [rowOf(0)]));
    await sendAndWait(raw, txHash);
    expect(await chain.receipt(txHash)).toMatchObject({ status: "reverted", batches: new Map() });

    const hash = await act(payer(0), await local.router.pay.populateTransaction(tool(0), 100n, 0n));
    expect(await chain.receipt(hash)).toMatchObject({ status: "success", batches: new Map() });
  });
});

describe("simulating", () => {
  it("tells the gas that the batch then fits into", async () => {
    const calldata = settleCall(batchIdOf("gas"), [rowOf(0), rowOf(1)]);
    const simulation = await simulate(calldata);
    expect(simulation.kind).toBe("ok");
    const gasLimit = simulation.kind === "ok" ? simulation.gas : 0n;
    const { raw, txHash } = await sign(calldata, { gasLimit });
    await sendAndWait(raw, txHash);
    expect(await chain.receipt(txHash)).toMatchObject({ status: "success" });
  });

  it("is ok with a row that fails, because the rest settles", async () => {
    await mined(local.usdc.blacklist(payer(0)));
    expect((await simulate(settleCall(batchIdOf("row"), [rowOf(0), rowOf(1)]))).kind).toBe("ok");
  });

  it("says unavailable while USDC is paused", async () => {
    await mined(local.usdc.pause());
    expect(await simulate(settleCall(batchIdOf("paused"), [rowOf(0)]))).toEqual({
      kind: "unavailable",
      reason: "USDC is paused, or it has blacklisted the router",
    });
  });

  it("says unavailable while USDC has blacklisted the router", async () => {
    await mined(local.usdc.blacklist(router));
    expect((await simulate(settleCall(batchIdOf("blacklisted"), [rowOf(0)]))).kind).toBe("unavailable");
  });

  it("says unavailable while the router is paused", async () => {
    await mined(local.router.connect(local.parties.guardian).pause());
    expect(await simulate(settleCall(batchIdOf("router"), [rowOf(0)]))).toEqual({
      kind: "unavailable",
      reason: "the router is paused",
    });
  });

  it("says operator_refused to somebody who is none", async () => {
    expect(await simulate(settleCall(batchIdOf("stranger"), [rowOf(0)]), payer(0))).toEqual({
      kind: "operator_refused",
      reason: `${payer(0)} is not an operator`,
    });
  });

  it("says operator_refused above the operator's limit", async () => {
    const rows = Array.from({ length: 11 }, (_, i) => rowOf(i, BALANCE));
    expect(await simulate(settleCall(batchIdOf("limit"), rows))).toEqual({
      kind: "operator_refused",
      reason: "it charges 110000000 while 100000000 is left of the operator's limit",
    });
  });

  it("says already_settled to a root that was settled", async () => {
    await settle(batchIdOf("replay"), [rowOf(0)]);
    expect(await simulate(settleCall(batchIdOf("replay"), [rowOf(1)]))).toEqual({ kind: "already_settled" });
  });

  it("says row_breaks, and whose row it is, if the token refuses for no reason that can be verified", async () => {
    // The token lets no account have 2^255 or more, and with this the router has all that it can have.
    await mined(local.usdc.mint(router, 2n ** 255n - 1n));
    expect(await simulate(settleCall(batchIdOf("breaks"), [rowOf(7)]))).toEqual({
      kind: "row_breaks",
      payer: payer(7),
    });
  });

  it("says too_large above the gas of one transaction", async () => {
    const rows = Array.from({ length: 50 }, (_, i) => rowOf(i));
    const small = await connect({ maxTransactionGas: 1_000_000n });
    const calldata = settleCall(batchIdOf("large"), rows);
    expect(await small.simulate({ from: operator().address, to: router, calldata })).toEqual({
      kind: "too_large",
      reason: expect.stringMatching(/it needs \d+ gas; a transaction has at most 1000000/),
    });
    expect((await simulate(calldata)).kind).toBe("ok");
  });

  it("says too_large above the gas of a block", async () => {
    const calldata = settleCall(
      batchIdOf("block"),
      Array.from({ length: 50 }, (_, i) => rowOf(i)),
    );
    await local.rpc("evm_setBlockGasLimit", ["0xf4240"]);
    try {
      await local.rpc("evm_mine");
      expect(await simulate(calldata)).toMatchObject({ kind: "too_large" });
    } finally {
      await local.rpc("evm_setBlockGasLimit", ["0xbebc200"]);
    }
  });

  it("says reverts, with the contract's own words, to anything else", async () => {
    expect(await simulate(settleCall(batchIdOf("empty"), []))).toEqual({ kind: "reverts", reason: "EmptyBatch()" });
    expect(await simulate(settleCall(batchIdOf("index"), [rowOf(0)], []))).toEqual({
      kind: "reverts",
      reason: "ToolIndexOutOfRange(0, 0)",
    });
    expect(await simulate("0x12345678")).toEqual({ kind: "reverts", reason: "it reverts without a reason" });
  });
});

describe("sending", () => {
  const batch = (name: string) => settleCall(batchIdOf(name), [rowOf(0)]);

  beforeEach(() => local.rpc("evm_setAutomine", [false]));

  it("is accepted once and already known from then on", async () => {
    const { raw } = await sign(batch("known"));
    expect(await chain.send(raw)).toEqual({ kind: "accepted" });
    expect(await chain.send(raw)).toEqual({ kind: "already_known" });
  });

  it("of a spent nonce is nonce_too_low", async () => {
    const first = await sign(batch("first"));
    const second = await sign(batch("second"));
    await chain.send(first.raw);
    await local.rpc("evm_mine");
    expect(await chain.send(second.raw)).toEqual({ kind: "nonce_too_low" });
  });

  it("of the same nonce without a higher fee is replacement_underpriced, with one it is accepted", async () => {
    const { baseFeePerGas } = await chain.head();
    const fees = { maxFeePerGas: 4n * baseFeePerGas, maxPriorityFeePerGas: baseFeePerGas };
    await chain.send((await sign(batch("replaced"), fees)).raw);
    const same = await sign(batch("replacement"), fees);
    expect(await chain.send(same.raw)).toEqual({ kind: "replacement_underpriced" });
    const raised = { maxFeePerGas: (fees.maxFeePerGas * 9n) / 8n, maxPriorityFeePerGas: (baseFeePerGas * 9n) / 8n };
    expect(await chain.send((await sign(batch("replacement"), raised)).raw)).toEqual({ kind: "accepted" });
  });

  it("below the base fee is fee_too_low", async () => {
    const { raw } = await sign(batch("cheap"), { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n });
    expect(await chain.send(raw)).toEqual({ kind: "fee_too_low" });
  });

  it("without money for the gas is insufficient_funds", async () => {
    await local.rpc("anvil_setBalance", [operator().address, "0x1"]);
    const { raw } = await sign(batch("broke"));
    expect(await chain.send(raw)).toEqual({ kind: "insufficient_funds" });
  });

  it("of more gas than a block has is too_large", async () => {
    const { raw } = await sign(batch("huge"), { gasLimit: 1_000_000_000n });
    expect(await chain.send(raw)).toMatchObject({ kind: "too_large" });
  });

  it("is unknown if the endpoint breaks off after it took the bytes", async () => {
    const taken: unknown[] = [];
    const node = await startScriptedRpc(({ method, params }) => {
      if (method === "eth_chainId") return { kind: "result", result: "0x2105" };
      if (method !== "eth_sendRawTransaction") return { kind: "result", result: `0x${"1".padStart(64, "0")}` };
      taken.push(params[0]);
      return { kind: "cut" };
    });
    try {
      const through = await connect({ addresses: [{ name: "flaky", url: node.url }] });
      const { raw } = await sign(batch("cut"));
      expect(await through.send(raw)).toMatchObject({ kind: "unknown" });
      expect(taken).toEqual([raw]);
    } finally {
      await node.stop();
    }
  });
});

describe("a reorg", () => {
  it("takes receipt, nonce, block hash and settlement back, and the same bytes settle again", async () => {
    const { address } = operator();
    const nonce = await chain.nonce(address, "latest");
    const batchId = batchIdOf("reorg");
    const { raw, txHash } = await sign(settleCall(batchId, [rowOf(0)]));
    await sendAndWait(raw, txHash);
    const before = await chain.receipt(txHash);
    if (!before) throw new Error("the batch was not mined");

    await local.rpc("anvil_reorg", [1, []]);
    expect(await chain.blockHash(before.blockNumber)).not.toBe(before.blockHash);
    expect(await chain.receipt(txHash)).toBeNull();
    expect(await chain.receiptOfBatch(batchId)).toBeNull();
    expect(await chain.nonce(address, "latest")).toBe(nonce);
    expect(await chain.settledAt(batchId, "latest")).toBe(0n);

    await sendAndWait(raw, txHash);
    expect(await chain.receipt(txHash)).toMatchObject({ status: "success", batches: before.batches });
    expect(await chain.nonce(address, "latest")).toBe(nonce + 1);
  });
});
