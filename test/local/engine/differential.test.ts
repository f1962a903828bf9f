import { recoverAddress, type TransactionReceipt, Wallet } from "ethers";
import { type Address, type Hex, keccak256, toHex, type Log as ViemLog } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../../scripts/waiting/until.ts";
import { mined } from "../../../scripts/world/mined.ts";
import { type LocalWorld, startWorld } from "../../../scripts/world/startWorld.ts";
import { BUDGET_TYPES, budgetDomain } from "../../../settlement/chain/router/budgetDigest.ts";
import { decodeOutcome } from "../../../settlement/chain/router/decodeOutcome.ts";
import { encodeRows } from "../../../settlement/chain/router/encodeRows.ts";
import { NO_BATCH } from "../../../settlement/chain/router/settleCall.ts";
import type { BatchRow, RowBudget } from "../../../settlement/domain/batch/batch.ts";
import { smaller } from "../../../settlement/domain/money.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import {
  budgetOf,
  copyOf,
  deposit,
  EARNING_BPS,
  endBudget,
  type Protocol,
  payout,
  prepaidOf,
  refund,
  requestRefund,
  type SettleCall,
  settle,
  spendableOf,
} from "../../simulator/chain/protocol.ts";
import { leftOf, limitOf } from "../../simulator/chain/rollingLimit.ts";
import { createRng, type Rng } from "../../simulator/rng.ts";

const SEED = 20_260_101;
const BATCHES = 200;
const USDC = 1_000_000n;
const PAYERS = 5;
const TOOLS = 3;
const OPERATOR_LIMIT = 10n * USDC;
const UNLISTED = `0x${"ee".repeat(16)}` as ToolId;
const GAS_LIMIT = 5_000_000n;
const HOUR_SECONDS = 3600;
const NOBODY: Address = `0x${"f".repeat(40)}`;
const BUDGETS = 3;
const BUDGET_IDS = Array.from({ length: BUDGETS }, (_, id) => BigInt(id));
const FLAWS = ["settled before", "no such tool", "no operator", "no rows", "out of order", "unsorted"] as const;

const lower = (address: string) => address.toLowerCase() as Address;

// The simulator is worth as much as its chain is like the real one. Here both get the same batches, between the same
// changes of everything that a batch depends on.
describe("the simulated router and the real one", () => {
  let world: LocalWorld;

  beforeAll(async () => {
    const funds = { payerBalance: 40n * USDC, payerAllowance: 40n * USDC, operatorLimit: OPERATOR_LIMIT };
    world = await startWorld({ tools: TOOLS, payers: PAYERS, ...funds });
  });

  afterAll(() => world?.stop());

  it("settle, fail, refuse and revert alike, to the unit", async () => {
    const rng = createRng(SEED);
    let protocol = await protocolOf(world);
    const seen = new Map<string, number>();
    const count = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1);
    for (let n = 0; n < BATCHES; n++) {
      for (let changes = rng.below(4); changes > 0; changes--) await change(rng, world, protocol);
      const call = await callOf(rng, world, protocol, n);
      const real = await settleForReal(world, call);
      const model = copyOf(protocol);
      const result = settle(model, { ...call, timestamp: real.timestamp });
      const { timestamp, ...outcome } = real;
      expect(outcome, `batch ${n}`).toEqual(result);
      count(result.kind === "reverted" ? result.error : "settled");
      if (result.kind === "reverted") continue;
      for (const { reason } of [...result.outcome.failed, ...result.outcome.refused]) count(reason);
      protocol = model;
      if (rng.happens(0.2)) {
        const accounts = world.tools.map(({ developer }) => developer.address);
        const pushed = await world.router.connect(operatorOf(world)).payout(accounts);
        await minedOf(world, pushed.hash);
        payout(protocol, accounts.map(lower));
      }
      expect(await holdingsOf(world), `holdings after batch ${n}`).toEqual(modelledOf(world, protocol, timestamp));
    }
    // A test in which these never came up would have compared nothing.
    const reverts = [
      "EnforcedPause",
      "NotOperator",
      "EmptyBatch",
      "BatchAlreadySettled",
      "BatchOutOfOrder",
      "ToolIndexOutOfRange",
    ];
    const failures = ["daily_cap", "blacklisted", "allowance", "balance", "under_staked", "unlisted", "earning_cap"];
    failures.push("prepaid", "consent_required", "budget_forged", "budget_exceeded", "budget_expired", "budget_tools");
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(["settled", "TokenUnavailable", "OperatorLimitExceeded", ...reverts, ...failures]),
    );
  });
});

const operatorOf = (world: LocalWorld) => new Wallet(world.operators[0]?.privateKey ?? "", world.provider);

async function protocolOf(world: LocalWorld): Promise<Protocol> {
  const accounts = world.payers.map(({ address }) => lower(address));
  const each = (amount: bigint) => new Map(accounts.map((account) => [account, amount]));
  return {
    router: lower(await world.router.getAddress()),
    treasury: lower(world.parties.treasury.address),
    tokenPaused: false,
    blacklisted: new Set(),
    balances: each(40n * USDC),
    allowances: each(40n * USDC),
    tools: new Map(
      world.tools.map(({ toolId, price, stake, developer }) => [
        toolId,
        { price, stake, payout: lower(developer.address) },
      ]),
    ),
    earningBps: EARNING_BPS,
    routerPaused: false,
    settledAt: new Map(),
    heads: new Map(),
    earnings: new Map(),
    operatorLimits: new Map([[lower(operatorOf(world).address), limitOf(OPERATOR_LIMIT)]]),
    dailyCaps: new Map(),
    credits: new Map(),
    prepaid: new Map(),
    consentRequired: new Set(),
    budgets: new Map(),
    isSigned: (payer, digest, signature) => lower(recoverAddress(digest, signature)) === payer,
    withdrawn: new Set(),
    unexplained: new Set(),
  };
}

// Changes something in both worlds.
async function change(rng: Rng, world: LocalWorld, protocol: Protocol): Promise<void> {
  const { usdc, router, staking, provider } = world;
  const account = rng.pick(world.payers);
  const payer = lower(account.address);
  const wallet = new Wallet(account.privateKey, provider);
  const amount = BigInt(rng.below(30)) * USDC;
  const tool = rng.pick(world.tools);
  const developer = new Wallet(tool.developer.privateKey, provider);
  const routerAddress = await router.getAddress();
  // The token lets nobody change anything during a pause, and nobody who is blacklisted.
  const { tokenPaused, blacklisted } = protocol;
  const frozen = tokenPaused || blacklisted.has(payer) || blacklisted.has(protocol.router);
  const own = ["deposit", "deposit", "refund", "consent", "budget"] as const;
  switch (
    rng.pick([...own, "allowance", "allowance", "balance", "balance", "cap", "blacklist", "pause", "stake", "time"])
  ) {
    case "deposit": {
      const [funds, allowed] = [protocol.balances.get(payer) ?? 0n, protocol.allowances.get(payer) ?? 0n];
      const most = smaller(funds, allowed);
      if (frozen || protocol.routerPaused || most === 0n) break;
      const some = smaller(amount + 1n, most);
      await mined(router.connect(wallet).deposit(some, { gasLimit: GAS_LIMIT }));
      deposit(protocol, payer, some);
      break;
    }
    case "refund": {
      const { balance, readyAt } = prepaidOf(protocol, payer);
      const now = await timeOf(world);
      if (readyAt !== 0n && readyAt <= now && !frozen) {
        await mined(router.connect(wallet).refund(payer, { gasLimit: GAS_LIMIT }));
        refund(protocol, payer, now);
      } else if (balance > 0n) {
        const receipt = await mined(router.connect(wallet).requestRefund(balance / 2n + 1n, { gasLimit: GAS_LIMIT }));
        const block = await provider.getBlock(receipt.blockNumber);
        requestRefund(protocol, payer, balance / 2n + 1n, BigInt(block?.timestamp ?? 0));
      }
      break;
    }
    case "consent": {
      const required = !protocol.consentRequired.delete(payer);
      if (required) protocol.consentRequired.add(payer);
      await mined(router.connect(wallet).setConsentRequired(required));
      break;
    }
    case "budget": {
      const id = BigInt(rng.below(BUDGETS));
      if (budgetOf(protocol, payer, id).endsAt !== 0n || rng.happens(0.5)) break;
      const receipt = await mined(router.connect(wallet).endBudget(id));
      const block = await provider.getBlock(receipt.blockNumber);
      endBudget(protocol, payer, id, BigInt(block?.timestamp ?? 0));
      break;
    }
    case "allowance":
      if (frozen) break;
      await mined(usdc.connect(wallet).approve(routerAddress, amount));
      protocol.allowances.set(payer, amount);
      break;
    case "balance": {
      const held = protocol.balances.get(payer) ?? 0n;
      if (frozen) break;
      if (rng.happens(0.6)) {
        await mined(usdc.mint(payer, amount + 1n));
        protocol.balances.set(payer, held + amount + 1n);
      } else if (held > 0n) {
        await mined(usdc.connect(wallet).transfer(world.parties.admin.address, held));
        protocol.balances.set(payer, 0n);
      }
      break;
    }
    case "cap": {
      await mined(amount === 0n ? router.connect(wallet).liftDailyCap() : router.connect(wallet).setDailyCap(amount));
      protocol.dailyCaps.set(payer, { ...(protocol.dailyCaps.get(payer) ?? limitOf(0n)), cap: amount });
      break;
    }
    case "blacklist": {
      const blacklisted = rng.pick([payer, payer, lower(tool.developer.address), protocol.router]);
      if (protocol.blacklisted.delete(blacklisted)) await mined(usdc.unBlacklist(blacklisted));
      else {
        await mined(usdc.blacklist(blacklisted));
        protocol.blacklisted.add(blacklisted);
        // The router is not blacklisted for long, or nothing would ever settle.
        if (blacklisted === protocol.router && rng.happens(0.5)) {
          await mined(usdc.unBlacklist(blacklisted));
          protocol.blacklisted.delete(blacklisted);
        }
      }
      break;
    }
    case "pause": {
      const paused = protocol.tokenPaused || protocol.routerPaused;
      if (protocol.tokenPaused) await mined(usdc.unpause());
      if (protocol.routerPaused) await mined(router.connect(world.parties.guardian).unpause());
      const which = paused ? "none" : rng.pick(["token", "router", "none"]);
      if (which === "token") await mined(usdc.pause());
      if (which === "router") await mined(router.connect(world.parties.guardian).pause());
      protocol.tokenPaused = which === "token";
      protocol.routerPaused = which === "router";
      break;
    }
    case "stake": {
      const listing = protocol.tools.get(tool.toolId);
      if (listing === undefined) break;
      const requested = listing.stake < tool.stake;
      if (requested) await mined(staking.connect(developer).cancelWithdrawal(tool.toolId));
      else await mined(staking.connect(developer).requestWithdrawal(tool.toolId, 1n));
      protocol.tools.set(tool.toolId, { ...listing, stake: requested ? tool.stake : tool.stake - 1n });
      break;
    }
    case "time":
      await world.rpc("evm_increaseTime", [rng.between(1, 40) * HOUR_SECONDS]);
      await world.rpc("evm_mine");
      break;
  }
}

async function timeOf({ provider }: LocalWorld): Promise<bigint> {
  return BigInt((await provider.getBlock("latest"))?.timestamp ?? 0);
}

// A row that draws on prepaid money, on a budget, on both or on neither; now and then with what is wrong about it.
async function rowOf(rng: Rng, world: LocalWorld, protocol: Protocol, row: BatchRow, toolIds: readonly ToolId[]) {
  const prepaid = rng.happens(0.3);
  if (rng.happens(0.6)) return { ...row, ...(prepaid && { prepaid }) };
  const id = BigInt(rng.below(BUDGETS));
  const tools = rng.happens(0.3) ? [...toolIds.slice(0, rng.between(1, toolIds.length))] : [];
  const budget: RowBudget = { id, ...(tools.length > 0 && { tools }) };
  if (rng.happens(0.8)) budget.signed = await signedOf(rng, world, protocol, row.payer, id, tools);
  return { ...row, ...(prepaid && { prepaid }), budget };
}

async function signedOf(
  rng: Rng,
  world: LocalWorld,
  protocol: Protocol,
  payer: Address,
  id: bigint,
  tools: readonly ToolId[],
): Promise<NonNullable<RowBudget["signed"]>> {
  // Now and then an older one, which is lower and may last longer.
  const limit = budgetOf(protocol, lower(payer), id).maxSpend + BigInt(rng.between(-4, 12)) * USDC;
  const maxSpend = limit < 0n ? 0n : limit;
  const validUntil = (await timeOf(world)) + BigInt(rng.pick([-10, 3_600, 10_000_000]));
  const forger = rng.happens(0.1) ? rng.pick(world.payers) : null;
  const account = forger ?? world.payers.find(({ address }) => address === payer);
  const domain = budgetDomain({ chainId: world.chainId, router: (await world.router.getAddress()) as Address });
  const types = { Budget: [...BUDGET_TYPES.Budget] };
  const message = { payer, id, maxSpend, validUntil, tools };
  const signature = (await account?.signTypedData(domain, types, message)) as Hex;
  return { maxSpend, validUntil, signature };
}

async function callOf(
  rng: Rng,
  world: LocalWorld,
  protocol: Protocol,
  n: number,
): Promise<Omit<SettleCall, "timestamp">> {
  const settled = [...protocol.settledAt.keys()];
  const toolIds = rng.shuffled([...world.tools.map(({ toolId }) => toolId), UNLISTED]).slice(0, rng.between(1, 4));
  const amount = () => BigInt(rng.below(rng.pick([2, 1_000, 9_000_000])));
  const payers = rng.shuffled(world.payers.map(({ address }) => address as Address)).slice(0, rng.between(1, 6));
  const plain = payers.sort(byAddress).map(
    (payer): BatchRow => ({
      payer,
      modelCost: amount(),
      lines: Array.from({ length: rng.below(4) }, () => ({
        toolIndex: rng.below(toolIds.length),
        // Now and then more than the stake of any tool lets it earn.
        amount: rng.happens(0.06) ? 1_001n * USDC : amount(),
      })),
    }),
  );
  const rows: BatchRow[] = [];
  for (const row of plain) rows.push(await rowOf(rng, world, protocol, row, toolIds));
  // What is rejected as a whole comes up in turn, so that none of it is left to luck.
  const flaw = n % 3 === 2 ? FLAWS[Math.floor(n / 3) % FLAWS.length] : null;
  const again = flaw === "settled before" && settled.length > 0;
  const batchId = again ? rng.pick(settled) : keccak256(toHex(`batch ${n}`));
  if (flaw === "no such tool") rows.push({ payer: NOBODY, modelCost: 0n, lines: [{ toolIndex: 200, amount: 1n }] });
  if (flaw === "unsorted") rows.push(...rows.slice(0, 1));
  const outsider = flaw === "no operator" ? world.payers[0]?.address : undefined;
  const operator = lower(outsider ?? operatorOf(world).address);
  return {
    operator,
    previous: flaw === "out of order" ? keccak256(toHex("nobody's batch")) : (protocol.heads.get(operator) ?? NO_BATCH),
    batchId,
    toolIds,
    rows: flaw === "no rows" ? "0x" : encodeRows(rows),
  };
}

const byAddress = (one: Address, other: Address) => (BigInt(one) < BigInt(other) ? -1 : 1);

async function settleForReal(world: LocalWorld, call: Omit<SettleCall, "timestamp">) {
  const { operator, previous, batchId, toolIds, rows } = call;
  const { router, provider } = world;
  const account = [...world.operators, ...world.payers].find(({ address }) => lower(address) === operator);
  const asSender = router.connect(new Wallet(account?.privateKey ?? "", provider));
  const sent = await asSender.settle(previous, batchId, [...toolIds], rows, { gasLimit: GAS_LIMIT });
  const receipt = await minedOf(world, sent.hash);
  const block = await provider.getBlock(receipt.blockNumber);
  const timestamp = BigInt(block?.timestamp ?? 0);
  if (receipt.status === 0) {
    const data = await revertDataOf(world, { from: operator, data: sent.data }, receipt.blockNumber - 1);
    const error = router.interface.parseError(data);
    const args = [...(error?.args ?? [])].map((arg) => (typeof arg === "string" ? lower(arg) : arg));
    return { timestamp, kind: "reverted" as const, error: error?.name ?? data, args };
  }
  const address = (await router.getAddress()) as Address;
  const outcome = decodeOutcome(receipt.logs as unknown as ViemLog[], address).get(batchId);
  if (outcome === undefined) throw new Error(`${sent.hash} settled nothing`);
  return {
    timestamp,
    kind: "settled" as const,
    outcome: {
      ...outcome,
      failed: outcome.failed.map((row) => ({ ...row, chargedTo: lower(row.chargedTo) })),
      refused: outcome.refused.map((line) => ({ ...line, chargedTo: lower(line.chargedTo) })),
      paid: outcome.paid.map((entry) => ({ ...entry, payee: lower(entry.payee) })),
    },
  };
}

// Whether it has succeeded or not.
function minedOf({ provider }: LocalWorld, hash: string): Promise<TransactionReceipt> {
  return until(`${hash} to be mined`, () => provider.getTransactionReceipt(hash));
}

// The same call on the state that the transaction met.
async function revertDataOf(
  world: LocalWorld,
  call: { from: Address; data: string },
  blockNumber: number,
): Promise<Hex> {
  const to = await world.router.getAddress();
  const response = await fetch(world.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: [{ ...call, to }, toHex(blockNumber)] }),
  });
  const { error } = (await response.json()) as { error?: { data?: Hex } };
  return error?.data ?? "0x";
}

// What everybody has, may spend and is owed.
async function holdingsOf({ router, payers, tools, parties, operators }: LocalWorld) {
  const spendable = await router.spendableMany(payers.map(({ address }) => address));
  const creditors = [parties.treasury.address, ...tools.map(({ developer }) => developer.address)];
  const [, left] = await router.operatorLimit(operators[0]?.address ?? "");
  return {
    spendable: spendable.map(({ amount, balance, allowance, dailyCapLeft, prepaid, consentRequired }) => [
      ...[amount, balance, allowance, dailyCapLeft, prepaid],
      consentRequired,
    ]),
    budgets: await Promise.all(
      payers.flatMap(({ address }) =>
        BUDGET_IDS.map(async (id) => {
          const { budget, toolsHash } = await router.budgetOf(address, id);
          return [budget.maxSpend, budget.spent, budget.validUntil, budget.endsAt, toolsHash];
        }),
      ),
    ),
    credits: await Promise.all(creditors.map((account) => router.creditOf(account))),
    left,
  };
}

function modelledOf({ payers, tools, parties, operators }: LocalWorld, protocol: Protocol, timestamp: bigint) {
  const creditors = [parties.treasury.address, ...tools.map(({ developer }) => developer.address)];
  const limit = protocol.operatorLimits.get(lower(operators[0]?.address ?? ""));
  return {
    spendable: payers.map(({ address }) => {
      const { amount, balance, allowance, dailyCapLeft, prepaid, consentRequired } = spendableOf(
        protocol,
        lower(address),
        timestamp,
      );
      return [...[amount, balance, allowance, dailyCapLeft, prepaid], consentRequired];
    }),
    budgets: payers.flatMap(({ address }) =>
      BUDGET_IDS.map((id) => {
        const { maxSpend, spent, validUntil, endsAt, toolsHash } = budgetOf(protocol, lower(address), id);
        return [maxSpend, spent, validUntil, endsAt, toolsHash];
      }),
    ),
    credits: creditors.map((account) => protocol.credits.get(lower(account)) ?? 0n),
    left: limit === undefined ? 0n : leftOf(limit, timestamp),
  };
}
