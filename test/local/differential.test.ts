import { type Log, type TransactionReceipt, Wallet } from "ethers";
import { type Address, type Hex, keccak256, toHex, type Log as ViemLog } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeOutcome } from "../../settlement/chain/decodeOutcome.ts";
import { encodeRows, type Row } from "../../settlement/chain/encodeRows.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import { type Chance, createChance } from "../simulator/chance.ts";
import { copyOf, type Protocol, payout, type SettleCall, settle, spendableOf } from "../simulator/protocol.ts";
import { leftOf, limitOf } from "../simulator/rollingLimit.ts";
import { type LocalChain, startLocalChain } from "./localChain.ts";

const SEED = 20_260_101;
const BATCHES = 100;
const USDC = 1_000_000n;
const PAYERS = 5;
const TOOLS = 3;
const OPERATOR_LIMIT = 30n * USDC;
const UNLISTED = `0x${"ee".repeat(16)}` as ToolId;
const GAS_LIMIT = 5_000_000n;
const HOUR_SECONDS = 3600;
const NOBODY: Address = `0x${"0".repeat(40)}`;
const FLAWS = ["settled before", "no such tool", "a stranger", "no rows"] as const;
const MAX_QUESTIONS = 1_000;

const lower = (address: string) => address.toLowerCase() as Address;

// The simulator is worth as much as its chain is like the real one. Here both get the same batches, between the same
// changes of everything that a batch depends on.
describe("the simulated router and the real one", () => {
  let chain: LocalChain;

  beforeAll(async () => {
    const funds = { payerBalance: 40n * USDC, payerAllowance: 40n * USDC, operatorLimit: OPERATOR_LIMIT };
    chain = await startLocalChain({ tools: TOOLS, payers: PAYERS, ...funds });
  });

  afterAll(() => chain?.stop());

  it("settle, fail, refuse and revert alike, to the unit", { timeout: 240_000 }, async () => {
    const chance = createChance(SEED);
    let protocol = await protocolOf(chain);
    const seen = new Map<string, number>();
    const count = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1);
    for (let n = 0; n < BATCHES; n++) {
      for (let changes = chance.below(4); changes > 0; changes--) await change(chance, chain, protocol);
      const call = callOf(chance, chain, [...protocol.settledAt.keys()], n);
      const real = await settleForReal(chain, call);
      const model = copyOf(protocol);
      const result = settle(model, { ...call, timestamp: real.timestamp });
      const { timestamp, ...outcome } = real;
      expect(outcome, `batch ${n}`).toEqual(result);
      count(result.kind === "reverted" ? result.error : "settled");
      if (result.kind === "reverted") continue;
      for (const { reason } of [...result.outcome.failed, ...result.outcome.refused]) count(reason);
      protocol = model;
      if (chance.happens(0.2)) {
        const accounts = chain.tools.map(({ developer }) => developer.address);
        const pushed = await chain.router.connect(operatorOf(chain)).payout(accounts);
        await minedOf(chain, pushed.hash);
        payout(protocol, accounts.map(lower));
      }
      expect(await holdingsOf(chain), `holdings after batch ${n}`).toEqual(modelledOf(chain, protocol, timestamp));
    }
    // A test in which these never came up would have compared nothing.
    const reverts = ["EnforcedPause", "NotOperator", "EmptyBatch", "BatchAlreadySettled", "ToolIndexOutOfRange"];
    const failures = ["daily_cap", "blacklisted", "allowance", "balance", "under_staked", "unlisted"];
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(["settled", "TokenUnavailable", "OperatorLimitExceeded", ...reverts, ...failures]),
    );
  });
});

const operatorOf = (chain: LocalChain) => new Wallet(chain.operators[0]?.privateKey ?? "", chain.provider);

async function protocolOf(chain: LocalChain): Promise<Protocol> {
  const accounts = chain.payers.map(({ address }) => lower(address));
  const each = (amount: bigint) => new Map(accounts.map((account) => [account, amount]));
  return {
    router: lower(await chain.router.getAddress()),
    treasury: lower(chain.parties.treasury.address),
    tokenPaused: false,
    blacklisted: new Set(),
    balances: each(40n * USDC),
    allowances: each(40n * USDC),
    tools: new Map(
      chain.tools.map(({ toolId, price, stake, developer }) => [
        toolId,
        { price, stake, payout: lower(developer.address) },
      ]),
    ),
    routerPaused: false,
    settledAt: new Map(),
    operatorLimits: new Map([[lower(operatorOf(chain).address), limitOf(OPERATOR_LIMIT)]]),
    dailyCaps: new Map(),
    credits: new Map(),
    unexplained: new Set(),
  };
}

// Changes something in both worlds.
async function change(chance: Chance, chain: LocalChain, protocol: Protocol): Promise<void> {
  const { usdc, router, staking, provider } = chain;
  const account = chance.pick(chain.payers);
  const payer = lower(account.address);
  const wallet = new Wallet(account.privateKey, provider);
  const amount = BigInt(chance.below(30)) * USDC;
  const tool = chance.pick(chain.tools);
  const developer = new Wallet(tool.developer.privateKey, provider);
  const routerAddress = await router.getAddress();
  // The token lets nobody change anything during a pause, and nobody who is blacklisted.
  const { tokenPaused, blacklisted } = protocol;
  const frozen = tokenPaused || blacklisted.has(payer) || blacklisted.has(protocol.router);
  const done = async (transaction: Promise<{ hash: string }>) => {
    const { hash } = await transaction;
    const { status } = await minedOf(chain, hash);
    if (status !== 1) throw new Error(`${hash} failed`);
  };
  switch (chance.pick(["allowance", "allowance", "balance", "balance", "cap", "blacklist", "pause", "stake", "time"])) {
    case "allowance":
      if (frozen) break;
      await done(usdc.connect(wallet).approve(routerAddress, amount));
      protocol.allowances.set(payer, amount);
      break;
    case "balance": {
      const held = protocol.balances.get(payer) ?? 0n;
      if (frozen) break;
      if (chance.happens(0.6)) {
        await done(usdc.mint(payer, amount + 1n));
        protocol.balances.set(payer, held + amount + 1n);
      } else if (held > 0n) {
        await done(usdc.connect(wallet).transfer(chain.parties.admin.address, held));
        protocol.balances.set(payer, 0n);
      }
      break;
    }
    case "cap": {
      await done(router.connect(wallet).setDailyCap(amount));
      protocol.dailyCaps.set(payer, { ...(protocol.dailyCaps.get(payer) ?? limitOf(0n)), cap: amount });
      break;
    }
    case "blacklist": {
      const barred = chance.pick([payer, payer, lower(tool.developer.address), protocol.router]);
      if (protocol.blacklisted.delete(barred)) await done(usdc.unBlacklist(barred));
      else {
        await done(usdc.blacklist(barred));
        protocol.blacklisted.add(barred);
        // The router is not barred for long, or nothing would ever settle.
        if (barred === protocol.router && chance.happens(0.5)) {
          await done(usdc.unBlacklist(barred));
          protocol.blacklisted.delete(barred);
        }
      }
      break;
    }
    case "pause": {
      const paused = protocol.tokenPaused || protocol.routerPaused;
      if (protocol.tokenPaused) await done(usdc.unpause());
      if (protocol.routerPaused) await done(router.connect(chain.parties.guardian).unpause());
      const which = paused ? "none" : chance.pick(["token", "router", "none"]);
      if (which === "token") await done(usdc.pause());
      if (which === "router") await done(router.connect(chain.parties.guardian).pause());
      protocol.tokenPaused = which === "token";
      protocol.routerPaused = which === "router";
      break;
    }
    case "stake": {
      const listing = protocol.tools.get(tool.toolId);
      if (listing === undefined) break;
      const requested = listing.stake < tool.stake;
      if (requested) await done(staking.connect(developer).cancelWithdrawal(tool.toolId));
      else await done(staking.connect(developer).requestWithdrawal(tool.toolId, 1n));
      protocol.tools.set(tool.toolId, { ...listing, stake: requested ? tool.stake : tool.stake - 1n });
      break;
    }
    case "time":
      await chain.rpc("evm_increaseTime", [chance.between(1, 40) * HOUR_SECONDS]);
      await chain.rpc("evm_mine");
      break;
  }
}

function callOf(chance: Chance, chain: LocalChain, settled: readonly Hex[], n: number): Omit<SettleCall, "timestamp"> {
  const toolIds = chance
    .shuffled([...chain.tools.map(({ toolId }) => toolId), UNLISTED])
    .slice(0, chance.between(1, 4));
  const amount = () => BigInt(chance.below(chance.pick([2, 1_000, 9_000_000])));
  const rows = Array.from(
    { length: chance.between(1, 6) },
    (): Row => ({
      payer: chance.pick(chain.payers).address,
      modelCost: amount(),
      lines: Array.from({ length: chance.below(4) }, () => ({
        toolIndex: chance.below(toolIds.length),
        amount: amount(),
      })),
    }),
  );
  // What is rejected as a whole comes up in turn, so that none of it is left to luck.
  const flaw = n % 3 === 2 ? FLAWS[Math.floor(n / 3) % FLAWS.length] : null;
  const again = flaw === "settled before" && settled.length > 0;
  const root = again ? chance.pick(settled) : keccak256(toHex(`batch ${n}`));
  if (flaw === "no such tool") rows.push({ payer: NOBODY, modelCost: 0n, lines: [{ toolIndex: 200, amount: 1n }] });
  const stranger = flaw === "a stranger" ? chain.payers[0]?.address : undefined;
  return {
    operator: lower(stranger ?? operatorOf(chain).address),
    root,
    toolIds,
    rows: flaw === "no rows" ? "0x" : encodeRows(rows),
  };
}

async function settleForReal(chain: LocalChain, { operator, root, toolIds, rows }: Omit<SettleCall, "timestamp">) {
  const { router, provider } = chain;
  const account = [...chain.operators, ...chain.payers].find(({ address }) => lower(address) === operator);
  const asSender = router.connect(new Wallet(account?.privateKey ?? "", provider));
  const sent = await asSender.settle(root, [...toolIds], rows, { gasLimit: GAS_LIMIT });
  const receipt = await minedOf(chain, sent.hash);
  const block = await provider.getBlock(receipt.blockNumber);
  const timestamp = BigInt(block?.timestamp ?? 0);
  if (receipt.status === 0) {
    const data = await revertDataOf(chain, { from: operator, data: sent.data }, receipt.blockNumber - 1);
    const error = router.interface.parseError(data);
    const args = [...(error?.args ?? [])].map((arg) => (typeof arg === "string" ? lower(arg) : arg));
    return { timestamp, kind: "reverted" as const, error: error?.name ?? data, args };
  }
  const address = (await router.getAddress()) as Address;
  const outcome = decodeOutcome(receipt.logs as unknown as ViemLog[], address).get(root);
  if (outcome === undefined) throw new Error(`${sent.hash} settled nothing`);
  const reasons = receipt.logs.flatMap((log) => refusalOf(chain, log));
  return {
    timestamp,
    kind: "settled" as const,
    outcome: {
      ...outcome,
      failed: outcome.failed.map((row) => ({ ...row, chargedTo: lower(row.chargedTo) })),
      refused: outcome.refused.map((line, i) => ({ ...line, chargedTo: lower(line.chargedTo), reason: reasons[i] })),
      paid: outcome.paid.map((entry) => ({ ...entry, payee: lower(entry.payee) })),
    },
  };
}

// The chain mines at once, so the receipt is there after a question or two.
async function minedOf({ provider }: LocalChain, hash: string): Promise<TransactionReceipt> {
  for (let asked = 0; asked < MAX_QUESTIONS; asked++) {
    const receipt = await provider.getTransactionReceipt(hash);
    if (receipt !== null) return receipt;
  }
  throw new Error(`${hash} was not mined`);
}

function refusalOf({ router }: LocalChain, log: Log): string[] {
  const event = router.interface.parseLog(log);
  return event?.name === "LineRefused" ? [event.args.reason === 0n ? "unlisted" : "under_staked"] : [];
}

// The same call on the state that the transaction met.
async function revertDataOf(
  chain: LocalChain,
  call: { from: Address; data: string },
  blockNumber: number,
): Promise<Hex> {
  const to = await chain.router.getAddress();
  const response = await fetch(chain.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [{ ...call, to }, toHex(blockNumber)] }),
  });
  const { error } = (await response.json()) as { error?: { data?: Hex } };
  return error?.data ?? "0x";
}

// What everybody has, may spend and is owed.
async function holdingsOf({ router, payers, tools, parties, operators }: LocalChain) {
  const spendable = await router.spendableMany(payers.map(({ address }) => address));
  const creditors = [parties.treasury.address, ...tools.map(({ developer }) => developer.address)];
  const [, left] = await router.operatorLimit(operators[0]?.address ?? "");
  return {
    spendable: spendable.map(({ amount, balance, allowance, dailyCapLeft }) => [
      amount,
      balance,
      allowance,
      dailyCapLeft,
    ]),
    credits: await Promise.all(creditors.map((account) => router.creditOf(account))),
    left,
  };
}

function modelledOf({ payers, tools, parties, operators }: LocalChain, protocol: Protocol, timestamp: bigint) {
  const creditors = [parties.treasury.address, ...tools.map(({ developer }) => developer.address)];
  const limit = protocol.operatorLimits.get(lower(operators[0]?.address ?? ""));
  return {
    spendable: payers.map(({ address }) => {
      const { amount, balance, allowance, dailyCapLeft } = spendableOf(protocol, lower(address), timestamp);
      return [amount, balance, allowance, dailyCapLeft];
    }),
    credits: creditors.map((account) => protocol.credits.get(lower(account)) ?? 0n),
    left: limit === undefined ? 0n : leftOf(limit, timestamp),
  };
}
