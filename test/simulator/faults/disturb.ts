import type { Address } from "viem";
import { following, NO_BATCH } from "../../../settlement/chain/router/settleCall.ts";
import { smaller } from "../../../settlement/domain/money.ts";
import type { ToolId } from "../../../settlement/domain/toolId.ts";
import type { State } from "../chain/blocks.ts";
import { deposit, endBudget, type Protocol, prepaidOf, refund, requestRefund } from "../chain/protocol.ts";
import { limitOf } from "../chain/rollingLimit.ts";
import type { SimulatedChain } from "../chain/simulatedChain.ts";
import type { Wallets } from "../processes/wallets.ts";
import type { Rng } from "../rng.ts";
import { developerOf, ETHER, INSURANCE, PEER, PLENTY, ROUTER, type Scenario, STAKE, USDC } from "../scenario.ts";
import type { Faults } from "./faults.ts";
import { steal } from "./thief.ts";

// What others do on chain in one tick, to the engine's surprise.
export function disturb(
  chain: SimulatedChain,
  rng: Rng,
  faults: Faults,
  scenario: Scenario,
  wallets: Wallets,
  consent: Rng,
): void {
  const { payers, tools, operators, operatorLimit, kindPayers, tight } = scenario;
  const deed = (name: string, probability: number, apply: (state: State) => void) => {
    if (faults.strike(name, probability)) chain.do(name, apply);
  };
  // Trouble passes in every run, whichever of it was chosen: a chain that stays paused shows nothing more.
  const recovery = (name: string, probability: number, apply: (state: State) => void) => {
    if (rng.happens(probability)) chain.do(name, apply);
  };
  const payer = rng.pick(payers);
  const operator = rng.pick(operators);
  const toolId = rng.pick(tools);
  const amount = BigInt(rng.between(0, 20)) * USDC;
  const lowLimit = amount * rng.pick([0n, 1n, 5n]);

  if (!kindPayers && !tight) {
    deed("a payer changes the allowance", 0.05, ({ protocol }) => protocol.allowances.set(payer, amount));
    deed("a payer's balance changes", 0.05, ({ protocol }) => protocol.balances.set(payer, amount));
    deed("a payer sets a daily cap", 0.03, ({ protocol }) => {
      const known = protocol.dailyCaps.get(payer) ?? limitOf(0n);
      protocol.dailyCaps.set(payer, { ...known, cap: amount });
    });
    const now = BigInt(chain.head().timestamp);
    deed("a payer deposits", 0.04, ({ protocol }) => {
      const most = fundsOf(protocol, payer);
      deposit(protocol, payer, smaller(amount, most));
    });
    deed("a payer asks prepaid money back", 0.04, ({ protocol }) => {
      requestRefund(protocol, payer, prepaidOf(protocol, payer).balance, now);
    });
    recovery("a refund is paid", 0.3, ({ protocol }) => refund(protocol, payer, now));
    deed("a payer is blacklisted", 0.02, ({ protocol }) => protocol.blacklisted.add(payer));
    deed("the insurance account is empty", 0.01, ({ protocol }) => protocol.balances.set(INSURANCE, 0n));
    recovery("the insurance account is funded", 0.05, ({ protocol }) => protocol.balances.set(INSURANCE, PLENTY));
  }
  if (!kindPayers && scenario.consenting.length > 0) {
    const signer = consent.pick(payers);
    const now = BigInt(chain.head().timestamp);
    // Deeds of payers have numbers of their own, and so do those that happen in all runs.
    const choice = (name: string, probability: number, apply: (protocol: Protocol) => void) => {
      if (consent.happens(probability) && faults.strike(name, 1)) chain.do(name, ({ protocol }) => apply(protocol));
    };
    choice("a payer ends a budget", 0.05, (protocol) => {
      const id = wallets.end(signer);
      if (id !== null) endBudget(protocol, signer, id, now);
    });
    choice("a payer demands consent from now on", 0.03, (protocol) => protocol.consentRequired.add(signer));
    choice("a payer no longer demands consent", 0.1, (protocol) => {
      if (!scenario.consenting.includes(signer)) protocol.consentRequired.delete(signer);
    });
    choice("a smart account withdraws its signature", 0.03, (protocol) => protocol.withdrawn.add(signer));
    choice("a smart account stands by its signature again", 0.1, (protocol) => protocol.withdrawn.delete(signer));
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
  deed("a tool's stake falls", 0.03, ({ protocol }) => stake(protocol, toolId, STAKE - 1n));
  recovery("a tool is staked again", 0.06, ({ protocol }) => stake(protocol, toolId, STAKE));
  deed("an operator's limit changes", 0.04, ({ protocol }) => setLimit(protocol, operator, lowLimit));
  deed("an operator is suspended", 0.02, ({ protocol }) => setLimit(protocol, operator, 0n));
  // Whoever takes over should have had the time to.
  recovery("an operator's limit is as it was", scenario.handover ? 0.01 : 0.1, ({ protocol }) =>
    setLimit(protocol, operator, operatorLimit),
  );
  deed("an operator is out of ether", 0.02, ({ funds }) => funds.set(operator, 0n));
  recovery("an operator has ether again", 0.15, ({ funds }) => funds.set(operator, ETHER));

  chain.wakeUp();
  if (faults.strike("an endpoint stands still", 0.03)) chain.standStill(scenario.blocksPerStep * rng.between(5, 60));

  const headOf = (account: Address) => chain.head().state.protocol.heads.get(account) ?? NO_BATCH;
  const pooled = chain.pooled();
  if (pooled.length > 0 && faults.strike("the mempool drops a transaction", 0.05)) chain.drop(rng.pick(pooled));
  if (!scenario.handover && faults.strike("a key is used elsewhere", 0.06)) {
    chain.inject({ from: operator, to: operator, calldata: "0x", gasLimit: 21_000n, fleeting: rng.happens(0.7) });
  }
  if (scenario.thief) steal(chain, rng, faults, scenario);
  const charged = kindPayers || tight ? [] : pooled.flatMap(chain.payersOf).filter((account) => account !== INSURANCE);
  if (charged.length > 0) {
    const account = rng.pick(charged);
    deed("a payer is blacklisted before the batch is mined", 0.15, ({ protocol }) => protocol.blacklisted.add(account));
    deed("a payer revokes before the batch is mined", 0.06, ({ protocol }) => protocol.allowances.set(account, 0n));
  }
  const batches = pooled.filter(({ to, from }) => to === ROUTER && from !== PEER);
  if (batches.length > 0) {
    const { from, nonce } = rng.pick(batches);
    // The others must be left to take over.
    const last = operators.every((key) => key === from || capOf(chain.head().state.protocol, key) === 0n);
    if (scenario.handover && nonce === 0 && !last && rng.happens(0.9)) {
      chain.do("an operator's limit changes", ({ protocol }) => setLimit(protocol, from, 0n));
    }
    deed("an operator is suspended before its batch is mined", 0.25, ({ protocol }) => setLimit(protocol, from, 0n));
  }
  // What another operator copied from a thief, or from what the ledger then forgot, cannot be told from its own.
  const known = !scenario.forgetful && !scenario.thief;
  if (batches.length > 0 && known && faults.strike("a peer settles the same batch first", 0.1)) {
    const { to, calldata, gasLimit } = rng.pick(batches);
    chain.inject({ from: PEER, to, calldata: following(calldata, headOf(PEER)), gasLimit, fleeting: true });
  }
}

// The end of all trouble that is not the payers' own, or of an endpoint that nobody repairs.
export function heal(
  chain: SimulatedChain,
  {
    operators,
    operatorLimit,
    stubborn,
    stalled,
  }: Pick<Scenario, "operators" | "operatorLimit" | "stubborn" | "stalled">,
): void {
  chain.repair(stalled);
  chain.do("all faults have stopped", ({ protocol, funds }) => {
    protocol.tokenPaused = false;
    protocol.routerPaused = false;
    protocol.blacklisted.clear();
    protocol.unexplained.clear();
    if (stubborn !== null) protocol.unexplained.add(stubborn);
    for (const operator of operators) {
      setLimit(protocol, operator, operatorLimit);
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

// Every payer can pay whatever it owes.
export function payUp(chain: SimulatedChain, { payers, consenting }: Scenario): void {
  chain.do("payers pay what they owe", ({ protocol }) => {
    protocol.withdrawn.clear();
    for (const payer of payers) {
      if (!consenting.includes(payer)) protocol.consentRequired.delete(payer);
      protocol.balances.set(payer, PLENTY);
      protocol.allowances.set(payer, PLENTY);
      protocol.dailyCaps.delete(payer);
    }
  });
}

// What the router can take from a wallet.
export function fundsOf({ balances, allowances }: Protocol, payer: Address): bigint {
  return smaller(balances.get(payer) ?? 0n, allowances.get(payer) ?? 0n);
}

const capOf = (protocol: Protocol, operator: Address) => protocol.operatorLimits.get(operator)?.cap ?? 0n;

// What was spent of it stays spent.
export function setLimit(protocol: Protocol, operator: Address, cap: bigint): void {
  protocol.operatorLimits.set(operator, { ...(protocol.operatorLimits.get(operator) ?? limitOf(0n)), cap });
}

function stake(protocol: Protocol, toolId: ToolId, amount: bigint): void {
  const tool = protocol.tools.get(toolId);
  if (tool !== undefined) protocol.tools.set(toolId, { ...tool, stake: amount });
}
