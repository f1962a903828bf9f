// The marketplace that every contract test begins with: a world with one listed tool and one payer with a spending cap. And
// the few verbs that the tests are told in.
import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { type BigNumberish, type ContractTransaction, parseUnits, Signature, ZeroAddress } from "ethers";
import { network } from "hardhat";
import type { Address } from "viem";
import { ADMIN_DELAY_SECONDS, CONTRACT_KEYS } from "../../scripts/protocol/description.ts";
import { PARAMETERS as INITIAL, PARAMETER_NAMES, type ParameterName } from "../../scripts/protocol/parameters.ts";
import { buildWorld } from "../../scripts/world/buildWorld.ts";
import { createSignerHost } from "../../scripts/world/hosts/signerHost.ts";
import { PEOPLE } from "../../scripts/world/parties.ts";
import { encodeRows } from "../../settlement/chain/router/encodeRows.ts";
import type { RowBudget } from "../../settlement/domain/batch/batch.ts";

// One simulated chain for the whole run. Every test begins by going back to the same snapshot of it.
export const { ethers, networkHelpers, provider } = await network.create();
export const { time } = networkHelpers;

// Beside the people of every local chain: somebody else who lists, pays, reports, or has no part in anything.
const EVERYBODY = [...PEOPLE, "rival", "neighbour", "reporter", "stranger"] as const;

export type Party = HardhatEthersSigner;

export const HOUR = 60 * 60;
export const DAY = 24 * HOUR;
export const OPERATOR_LIMIT = usd("10000");
export const PRICE = usd("0.10");
export const STAKE = usd("10");
export const FUNDS = usd("1000");

// The parameters that every deployment begins with.
export const PARAMETERS = Object.fromEntries(PARAMETER_NAMES.map((name) => [name, INITIAL[name].initial])) as Record<
  ParameterName,
  bigint
>;

export const FAILURE = {
  dailyCap: 1n,
  blacklisted: 2n,
  allowance: 3n,
  balance: 4n,
  prepaid: 5n,
  consentRequired: 6n,
  budgetForged: 7n,
  budgetExceeded: 8n,
  budgetExpired: 9n,
  budgetTools: 10n,
} as const;
export const REFUSAL = { unlisted: 0n, underStaked: 1n, earningCap: 2n } as const;

export type Charge = {
  payer: { address: string };
  modelCost?: bigint;
  lines?: readonly (readonly [toolId: string, amount: bigint])[];
  prepaid?: boolean;
  budget?: RowBudget;
};

// Dollars as micro-USDC.
export function usd(amount: string): bigint {
  return parseUnits(amount, 6);
}

// Lines as `LinesRefused` reports them.
export function refusedLines(...lines: readonly (readonly [toolId: string, amount: bigint])[]): string {
  return ethers.concat(lines.flatMap(([toolId, amount]) => [toolId, ethers.toBeHex(amount, 6)]));
}

// Thirty-two bytes that no test has used before.
let lastHash = 0n;
export function freshHash(): string {
  lastHash += 1n;
  return ethers.id(`hash ${lastHash}`);
}

// The tool ids and packed rows of a batch, its rows in the order of their payers. A tool's index is the order in which it is
// first mentioned.
export function packBatch(unsorted: readonly Charge[]): { toolIds: string[]; rows: string } {
  const charges = unsorted.toSorted((one, other) => (BigInt(one.payer.address) < BigInt(other.payer.address) ? -1 : 1));
  const toolIds = [...new Set(charges.flatMap(({ lines = [] }) => lines.map(([toolId]) => toolId)))];
  const rows = charges.map(({ payer, modelCost = 0n, lines = [], prepaid = false, budget }) => ({
    payer: payer.address as Address,
    modelCost,
    prepaid,
    ...(budget && { budget }),
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

async function openMarketplace() {
  const signers = await ethers.getSigners();
  const people = Object.fromEntries(EVERYBODY.map((name, index) => [name, signers[index]])) as Record<
    (typeof EVERYBODY)[number],
    Party
  >;
  const { admin, operator, developer, payer, circle } = people;
  const world = await buildWorld(createSignerHost<Party>(ethers.provider), {
    parties: people,
    circle,
    operators: [operator],
    operatorLimit: OPERATOR_LIMIT,
    tools: [{ developer, salt: freshHash(), price: PRICE }],
    payers: [{ account: payer, balance: FUNDS, allowance: FUNDS }],
  });
  const { manager, router, staking, bonds, receiptCourt, usdc } = world;

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

  // Pledges new USDC for an operator.
  async function postBond(account: Party, amount: bigint): Promise<void> {
    await usdc.mint(account, amount);
    await usdc.connect(account).approve(bonds, amount);
    await bonds.connect(account).post(account, amount);
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

  // Settles a batch after the last one, unless told to name another.
  async function settle(
    charges: readonly Charge[],
    { batchId = freshHash(), by = operator, gasLimit = 0n, previous = "" } = {},
  ) {
    const { toolIds, rows } = packBatch(charges);
    const head = previous === "" ? await router.headOf(by) : previous;
    return router.connect(by).settle(head, batchId, toolIds, rows, gasLimit ? { gasLimit } : {});
  }

  // What the admin decides: announced, waited for, carried out.
  async function asAdmin(call: Promise<ContractTransaction>, { by = admin } = {}) {
    const { to, data } = await call;
    await manager.connect(by).schedule(to, data, 0);
    await time.increase(ADMIN_DELAY_SECONDS);
    return manager.connect(by).execute(to, data);
  }

  // The guardian's veto of whatever is proposed now.
  async function veto(toolId: string, { by = people.guardian } = {}) {
    const { termsHash } = await staking.slashOf(toolId);
    return staking.connect(by).vetoSlash(toolId, termsHash);
  }

  // A slash from the proposal to the end.
  async function slash(toolId: string, terms: ReturnType<typeof slashTerms>, { by = people.adjudicator } = {}) {
    await staking.connect(by).proposeSlash(toolId, terms);
    await time.increase(3 * DAY);
    return staking.connect(by).executeSlash(toolId, terms);
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

  const [{ toolId: tool } = { toolId: "" }] = world.tools;
  return {
    ...people,
    manager,
    router,
    staking,
    bonds,
    receiptCourt,
    // Every contract of the protocol.
    parts: CONTRACT_KEYS.map((key) => world[key]),
    usdc,
    tool,
    fund,
    fundStake,
    postBond,
    listTool,
    settle,
    asAdmin,
    veto,
    slash,
    signPermit,
  };
}

export type Marketplace = Awaited<ReturnType<typeof openMarketplace>>;

export function marketplace(): Promise<Marketplace> {
  return networkHelpers.loadFixture(openMarketplace);
}

// The start of the next of the 8-hour periods that limits are counted in, so that a test knows which periods it touches.
export async function nextPeriod(): Promise<number> {
  const period = 8 * HOUR;
  const start = (Math.floor((await time.latest()) / period) + 1) * period;
  await time.increaseTo(start);
  return start;
}
