// The marketplace that every contract test begins with: the real USDC, the protocol as scripts/deploy puts it on chain,
// one listed tool and one payer with a spending cap. And the few verbs that the tests are told in.
import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { type BigNumberish, type ContractTransaction, parseUnits, Signature, ZeroAddress } from "ethers";
import { network } from "hardhat";
import type { Address } from "viem";
import { ADMIN_DELAY_SECONDS, deployProtocol } from "../../scripts/deploy/protocol.ts";
import { deployUsdc } from "../../scripts/deploy/usdc.ts";
import { encodeRows } from "../../settlement/chain/encodeRows.ts";

// One simulated chain for the whole run. Every test begins by going back to the same snapshot of it.
export const { ethers, networkHelpers, provider } = await network.create();
export const { time } = networkHelpers;

const PARTIES = [
  "deployer",
  "circle",
  "circleProxyAdmin",
  "admin",
  "treasury",
  "insurance",
  "guardian",
  "adjudicator",
  "operator",
  "developer",
  "rival",
  "payer",
  "neighbour",
  "reporter",
  "stranger",
] as const;

export type Party = HardhatEthersSigner;

export const HOUR = 60 * 60;
export const DAY = 24 * HOUR;
export const OPERATOR_LIMIT = usd("10000");
export const PRICE = usd("0.10");
export const STAKE = usd("10");
export const FUNDS = usd("1000");

export const FAILURE = { dailyCap: 0n, blacklisted: 1n, allowance: 2n, balance: 3n } as const;
export const REFUSAL = { unlisted: 0n, underStaked: 1n } as const;

export type Charge = {
  payer: { address: string };
  modelCost?: bigint;
  lines?: readonly (readonly [toolId: string, amount: bigint])[];
};

// Dollars as micro-USDC.
export function usd(amount: string): bigint {
  return parseUnits(amount, 6);
}

// Thirty-two bytes that no test has used before.
let lastHash = 0n;
export function freshHash(): string {
  lastHash += 1n;
  return ethers.id(`hash ${lastHash}`);
}

// The tool ids and packed rows of a batch. A tool's index is the order in which it is first mentioned.
export function packBatch(charges: readonly Charge[]): { toolIds: string[]; rows: string } {
  const toolIds = [...new Set(charges.flatMap(({ lines = [] }) => lines.map(([toolId]) => toolId)))];
  const rows = charges.map(({ payer, modelCost = 0n, lines = [] }) => ({
    payer: payer.address as Address,
    modelCost,
    lines: lines.map(([toolId, amount]) => ({ toolIndex: toolIds.indexOf(toolId), amount })),
  }));
  return { toolIds, rows: encodeRows(rows) };
}

export function slashTerms({
  amount = STAKE,
  evidenceHash = freshHash(),
  reporter = { address: ZeroAddress },
  refunds = [],
}: {
  amount?: bigint;
  evidenceHash?: string;
  reporter?: { address: string };
  refunds?: readonly (readonly [payer: { address: string }, amount: bigint])[];
} = {}) {
  return {
    amount,
    evidenceHash,
    reporter: reporter.address,
    refunds: refunds.map(([payer, refund]) => ({ payer: payer.address, amount: refund })),
  };
}

async function deployMarketplace() {
  const signers = await ethers.getSigners();
  const parties = Object.fromEntries(PARTIES.map((name, index) => [name, signers[index]])) as Record<
    (typeof PARTIES)[number],
    Party
  >;
  const { admin, treasury, insurance, guardian, adjudicator, operator, developer, payer } = parties;
  const usdc = await deployUsdc(parties.circleProxyAdmin, parties.circle);
  const protocol = await deployProtocol(parties.deployer, await usdc.getAddress(), {
    admin: admin.address,
    treasury: treasury.address,
    insurance: insurance.address,
    guardian: guardian.address,
    adjudicator: adjudicator.address,
    operator: operator.address,
    operatorLimit: OPERATOR_LIMIT,
  });
  const { manager, router, staking } = protocol;

  // Gives an account USDC and lets the router take it: the payer's spending cap.
  async function fund(account: Party, amount: bigint, allowance = amount): Promise<void> {
    await usdc.mint(account, amount);
    await usdc.connect(account).approve(router, allowance);
  }

  // Gives an account USDC that it can stake.
  async function fundStake(account: Party, amount: bigint): Promise<void> {
    await usdc.mint(account, amount);
    await usdc.connect(account).approve(staking, amount);
  }

  async function listTool({
    owner = developer,
    salt = freshHash(),
    price = PRICE,
    payout = owner,
    stake = STAKE,
  }: {
    owner?: Party;
    salt?: string;
    price?: bigint;
    payout?: { address: string };
    stake?: bigint;
  } = {}): Promise<string> {
    await fundStake(owner, stake);
    await staking.connect(owner).list(salt, price, payout.address, stake);
    return staking.toolIdOf(owner, salt);
  }

  function settle(charges: readonly Charge[], { root = freshHash(), by = operator, gasLimit = 0n } = {}) {
    const { toolIds, rows } = packBatch(charges);
    return router.connect(by).settle(root, toolIds, rows, gasLimit ? { gasLimit } : {});
  }

  // What the admin decides: announced, waited for, carried out.
  async function asAdmin(call: Promise<ContractTransaction>, { by = admin } = {}) {
    const { to, data } = await call;
    await manager.connect(by).schedule(to, data, 0);
    await time.increase(ADMIN_DELAY_SECONDS);
    return manager.connect(by).execute(to, data);
  }

  // A spending cap by signature (EIP-2612). Whoever holds it may submit it.
  async function signPermit(owner: Party, value: bigint, deadline: BigNumberish = ethers.MaxUint256) {
    const { chainId } = await ethers.provider.getNetwork();
    const spender = await router.getAddress();
    const signature = await owner.signTypedData(
      { name: "USD Coin", version: "2", chainId, verifyingContract: await usdc.getAddress() },
      {
        Permit: [
          { name: "owner", type: "address" },
          { name: "spender", type: "address" },
          { name: "value", type: "uint256" },
          { name: "nonce", type: "uint256" },
          { name: "deadline", type: "uint256" },
        ],
      },
      { owner: owner.address, spender, value, nonce: await usdc.nonces(owner), deadline },
    );
    const { v, r, s } = Signature.from(signature);
    return [owner.address, spender, value, deadline, v, r, s] as const;
  }

  const tool = await listTool();
  await fund(payer, FUNDS);
  return { ...parties, ...protocol, usdc, tool, fund, fundStake, listTool, settle, asAdmin, signPermit };
}

export type Marketplace = Awaited<ReturnType<typeof deployMarketplace>>;

export function marketplace(): Promise<Marketplace> {
  return networkHelpers.loadFixture(deployMarketplace);
}

// The start of the next of the 8-hour periods that limits are counted in, so that a test knows which periods it touches.
export async function nextPeriod(): Promise<number> {
  const period = 8 * HOUR;
  const start = (Math.floor((await time.latest()) / period) + 1) * period;
  await time.increaseTo(start);
  return start;
}
