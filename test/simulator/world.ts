import type { Address, Hex } from "viem";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { ToolId } from "../../settlement/domain/toolId.ts";
import type { Policy } from "../../settlement/engine/context.ts";
import type { Chance } from "./chance.ts";
import type { Faults } from "./faults.ts";
import type { Protocol } from "./protocol.ts";
import { limitOf } from "./rollingLimit.ts";
import type { SimulatedChain, State } from "./simulatedChain.ts";

export const USDC = 1_000_000n;
const PLENTY = 10n ** 13n;
const ETHER = 10n ** 18n;
const OPERATOR_LIMIT = 1_000_000n * USDC;
const SECOND_MS = 1000;

export const ROUTER = addressOf("c0de", 1);
export const TREASURY = addressOf("7ea5", 1);
export const INSURANCE = addressOf("1e5", 1);
export const PEER = addressOf("bee", 1);

export type World = {
  payers: readonly Address[];
  tools: readonly ToolId[];
  operators: readonly Address[];
  // All payers can always pay. Then no attempt may be used up, whatever else happens.
  kindPayers: boolean;
  // How many rows fit into a transaction.
  maxRows: number;
  // How likely a turn is delivered in a round. Where little is, what could not be paid comes back alone.
  pace: number;
  // A payer whom the token goes on refusing for no reason after everything else is well. Nobody else may suffer from it.
  stubborn: Address | null;
};

// Production's rules with shorter waits, so that a run gets through all of them.
export function policyOf(chance: Chance): Policy {
  return {
    bounds: { maxRows: chance.between(2, 5), maxLines: 12, maxCharges: chance.between(4, 16) },
    maxInFlight: chance.between(1, 4),
    leaseMs: 15 * SECOND_MS,
    sessionTtlMs: 60 * SECOND_MS,
    holdTtlMs: 40 * SECOND_MS,
    flush: { maxCount: 3, maxAmount: microUsdc(USDC), maxAgeMs: 20 * SECOND_MS },
    maxAttempts: chance.between(2, 5),
    firstRetryMs: 5 * SECOND_MS,
    maxRetryMs: 20 * SECOND_MS,
    brokenRowWaitMs: 20 * SECOND_MS,
    rebroadcastMs: 4 * SECOND_MS,
    stuckMs: 10 * SECOND_MS,
    stuckBlocks: 2n,
    maxFeePerGasCeiling: 5_000_000_000n,
    payoutEveryMs: 60 * SECOND_MS,
    payoutThreshold: microUsdc(2n * USDC),
    maxPayoutsPerTransaction: 3,
    sweepLimit: 20,
    signTimeoutMs: 10 * SECOND_MS,
    tokenCheckMs: 60 * SECOND_MS,
  };
}

export function worldOf(chance: Chance): World {
  const payers = named("aa", chance.between(2, 6));
  return {
    payers,
    tools: Array.from(
      { length: chance.between(1, 4) },
      (_, i): ToolId => `0x${`${i + 1}`.padStart(32, "0")}` as ToolId,
    ),
    operators: named("0e", chance.between(1, 2)),
    kindPayers: chance.happens(0.35),
    maxRows: chance.between(1, 5),
    pace: chance.pick([0.08, 0.2, 0.5, 0.5]),
    stubborn: chance.happens(0.1) ? chance.pick(payers) : null,
  };
}

export function protocolOf(chance: Chance, { payers, tools, operators, kindPayers }: World): Protocol {
  const some = () => (kindPayers ? PLENTY : BigInt(chance.between(2, 60)) * USDC);
  return {
    router: ROUTER,
    treasury: TREASURY,
    tokenPaused: false,
    blacklisted: new Set(),
    balances: new Map([[INSURANCE, PLENTY], ...payers.map((payer) => [payer, some()] as const)]),
    allowances: new Map([[INSURANCE, PLENTY], ...payers.map((payer) => [payer, some()] as const)]),
    tools: new Map(
      tools.map((toolId, i) => [toolId, { price: USDC / 10n, stake: 10n * USDC, payout: developerOf(i) }]),
    ),
    routerPaused: false,
    settledAt: new Map(),
    operatorLimits: new Map([...operators, PEER].map((operator) => [operator, limitOf(OPERATOR_LIMIT)])),
    dailyCaps: new Map(),
    credits: new Map(),
    unexplained: new Set(),
  };
}

export const fundsOf = ({ operators }: World) => new Map([...operators, PEER].map((operator) => [operator, ETHER]));

// What others do on chain in one round, to the engine's surprise.
export function disturb(chain: SimulatedChain, chance: Chance, faults: Faults, world: World): void {
  const { payers, tools, operators, kindPayers } = world;
  const deed = (name: string, probability: number, apply: (state: State) => void) => {
    if (faults.strike(name, probability)) chain.do(name, apply);
  };
  // Trouble passes in every run, whichever of it was chosen: a chain that stays paused shows nothing more.
  const recovery = (name: string, probability: number, apply: (state: State) => void) => {
    if (chance.happens(probability)) chain.do(name, apply);
  };
  const payer = chance.pick(payers);
  const operator = chance.pick(operators);
  const toolId = chance.pick(tools);
  const amount = BigInt(chance.between(0, 20)) * USDC;
  const lowLimit = amount * chance.pick([0n, 1n, 5n]);

  if (!kindPayers) {
    deed("a payer changes the allowance", 0.05, ({ protocol }) => protocol.allowances.set(payer, amount));
    deed("a payer's balance changes", 0.05, ({ protocol }) => protocol.balances.set(payer, amount));
    deed("a payer sets a daily cap", 0.03, ({ protocol }) => {
      const known = protocol.dailyCaps.get(payer) ?? limitOf(0n);
      protocol.dailyCaps.set(payer, { ...known, cap: amount });
    });
    deed("a payer is blacklisted", 0.02, ({ protocol }) => protocol.blacklisted.add(payer));
    deed("the insurance account is empty", 0.01, ({ protocol }) => protocol.balances.set(INSURANCE, 0n));
    recovery("the insurance account is funded", 0.05, ({ protocol }) => protocol.balances.set(INSURANCE, PLENTY));
  }
  deed("a payer is refused for no reason", 0.02, ({ protocol }) => protocol.unexplained.add(payer));
  recovery("nobody is refused for no reason", 0.1, ({ protocol }) => protocol.unexplained.clear());
  recovery("a payer or developer is no longer blacklisted", 0.05, ({ protocol }) => protocol.blacklisted.clear());
  deed("a developer is blacklisted", 0.02, ({ protocol }) => protocol.blacklisted.add(developerOf(0)));
  deed("the token is paused", 0.04, ({ protocol }) => {
    protocol.tokenPaused = true;
  });
  deed("the router is paused", 0.02, ({ protocol }) => {
    protocol.routerPaused = true;
  });
  recovery("nothing is paused", 0.25, ({ protocol }) => {
    protocol.tokenPaused = false;
    protocol.routerPaused = false;
  });
  deed("the router is blacklisted", 0.01, ({ protocol }) => protocol.blacklisted.add(ROUTER));
  deed("a tool's stake falls", 0.03, ({ protocol }) => stake(protocol, toolId, 9n * USDC));
  recovery("a tool is staked again", 0.06, ({ protocol }) => stake(protocol, toolId, 10n * USDC));
  deed("an operator's limit changes", 0.04, ({ protocol }) => {
    const known = protocol.operatorLimits.get(operator) ?? limitOf(0n);
    protocol.operatorLimits.set(operator, { ...known, cap: lowLimit });
  });
  recovery("an operator's limit is high again", 0.15, ({ protocol }) => {
    const known = protocol.operatorLimits.get(operator) ?? limitOf(0n);
    protocol.operatorLimits.set(operator, { ...known, cap: OPERATOR_LIMIT });
  });
  deed("an operator is out of ether", 0.02, ({ funds }) => funds.set(operator, 0n));
  recovery("an operator has ether again", 0.15, ({ funds }) => funds.set(operator, ETHER));

  const pooled = chain.pooled();
  if (pooled.length > 0 && faults.strike("the pool drops a transaction", 0.05)) chain.drop(chance.pick(pooled));
  if (faults.strike("a key is used elsewhere", 0.06)) {
    chain.inject({ from: operator, to: operator, calldata: "0x", gasLimit: 21_000n, fleeting: chance.happens(0.7) });
  }
  const charged = kindPayers ? [] : pooled.flatMap(chain.payersOf).filter((account) => account !== INSURANCE);
  if (charged.length > 0) {
    const account = chance.pick(charged);
    deed("a payer is blacklisted before the batch is mined", 0.15, ({ protocol }) => protocol.blacklisted.add(account));
    deed("a payer revokes before the batch is mined", 0.06, ({ protocol }) => protocol.allowances.set(account, 0n));
  }
  const batches = pooled.filter(({ to, from }) => to === ROUTER && from !== PEER);
  if (batches.length > 0 && faults.strike("a peer settles the same batch first", 0.1)) {
    const { to, calldata, gasLimit } = chance.pick(batches);
    chain.inject({ from: PEER, to, calldata, gasLimit, fleeting: true });
  }
}

// The end of all trouble that is not the payers' own.
export function heal(chain: SimulatedChain, { operators, stubborn }: World): void {
  chain.do("all is well", ({ protocol, funds }) => {
    protocol.tokenPaused = false;
    protocol.routerPaused = false;
    protocol.blacklisted.clear();
    protocol.unexplained.clear();
    if (stubborn !== null) protocol.unexplained.add(stubborn);
    for (const operator of operators) {
      protocol.operatorLimits.set(operator, limitOf(OPERATOR_LIMIT));
      funds.set(operator, ETHER);
    }
    protocol.balances.set(INSURANCE, PLENTY);
    protocol.allowances.set(INSURANCE, PLENTY);
  });
}

// And the end of that, too.
export function excuse(chain: SimulatedChain): void {
  chain.do("nobody is refused any more", ({ protocol }) => protocol.unexplained.clear());
}

function stake(protocol: Protocol, toolId: ToolId, amount: bigint): void {
  const tool = protocol.tools.get(toolId);
  if (tool !== undefined) protocol.tools.set(toolId, { ...tool, stake: amount });
}

function addressOf(name: string, n: number): Address {
  return `0x${name}${n.toString(16).padStart(40 - name.length, "0")}`;
}

const named = (name: string, count: number) => Array.from({ length: count }, (_, i) => addressOf(name, i + 1));

const developerOf = (i: number): Address => addressOf("de", i + 1);

export const hexOf = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;
