import type { Address } from "viem";
import type { Signer } from "../../../settlement/chain/signer/signer.ts";
import { SettlementError } from "../../../settlement/domain/errors.ts";
import type { EngineContext, Policy } from "../../../settlement/engine/context.ts";
import type { Lease, Ledger } from "../../../settlement/ledger/ledger.ts";
import type { SimulatedChain } from "../chain/simulatedChain.ts";
import { createSimulatedSigner } from "../chain/transaction.ts";
import type { Invariants } from "../checks/invariants.ts";
import type { Faults } from "../faults/faults.ts";
import type { Rng } from "../rng.ts";
import type { Scenario } from "../scenario.ts";
import type { Actor, Scheduler } from "./scheduler.ts";

// What every process of a run shares.
export type Surroundings = {
  scenario: Scenario;
  policy: Policy;
  rng: Rng;
  faults: Faults;
  scheduler: Scheduler;
  ledger: Ledger;
  chain: SimulatedChain;
  nowMs: () => number;
  trace: (line: string) => void;
  // They ask the clients, who ask an engine: so they are there only when the first call is made.
  invariants: () => Invariants;
};

const LEASED = [
  "planSubmission",
  "assignNonce",
  "saveBroadcast",
  "unplanBatch",
  "postponeCharges",
  "recordInclusion",
  "recordLoss",
  "finalize",
  "abandon",
  "closeNonce",
  "haltForForeignNonces",
  "setFence",
  "removeFence",
  "planFiller",
  "retire",
  "liftFence",
] as const;

// What the engine of one process works with. Every call passes the scheduler, and what the invariants must know is noted.
export function createEngineContext(
  surroundings: Surroundings,
  actor: Actor,
  holder: string,
  clockOffsetMs: () => number,
  keys: readonly Address[] = surroundings.scenario.operators,
): EngineContext {
  const { policy, rng, faults, scheduler, ledger, chain, nowMs, trace, invariants } = surroundings;

  // Every function of a port becomes a call that the scheduler decides about.
  function through<T extends object>(name: string, port: T): T {
    const entries = Object.entries(port).map(([verb, value]) => {
      if (typeof value !== "function") return [verb, value];
      return [verb, (...args: unknown[]) => scheduler.call(actor, `${name}.${verb}`, async () => value(...args))];
    });
    return Object.fromEntries(entries) as T;
  }

  const clock = { nowMs: () => nowMs() + clockOffsetMs(), elapsedMs: nowMs };
  const port = chain.connect(clock);
  const leased = fenced(ledger, invariants);
  return {
    ledger: through("ledger", {
      ...leased,
      async acquireLease(operator, name, ttlMs, evenRetired) {
        const lease = await ledger.acquireLease(operator, name, ttlMs, evenRetired);
        if (lease !== null) invariants().leased(lease, ttlMs, nowMs());
        return lease;
      },
      releaseLease(lease) {
        invariants().released(lease);
        return ledger.releaseLease(lease);
      },
      async hold(call, funds, atMs, credit) {
        const held = await ledger.hold(call, funds, atMs, credit);
        if (held.kind === "held" && call.amount > 0n) await invariants().checkCredit(held.hold.payer);
        return held;
      },
      async holdTurn(held, funds, atMs, credit) {
        const answer = await ledger.holdTurn(held, funds, atMs, credit);
        if (answer.kind === "held") await invariants().checkCredit(held.payer);
        return answer;
      },
      async recordTurn(turn, atMs, terms, onChain) {
        const held = await ledger.findTurnHold(turn.id);
        const recorded = await ledger.recordTurn(turn, atMs, terms, onChain);
        const isFree = turn.outcome === "failed" && turn.modelCost === 0n;
        // What was held was within the payer's credit when it was; a reorg may have lowered that since.
        if (held !== null) invariants().checkHeld(held, turn, recorded);
        else if (recorded.kind === "recorded" && recorded.chargeIds.length > 0 && !isFree)
          await invariants().checkCredit(turn.payer);
        return recorded;
      },
      // None of them brings a budget, and of those for which something was held the rest is known.
      async recordTurns(reports, atMs) {
        const held = await Promise.all(reports.map(({ turn }) => ledger.findTurnHold(turn.id)));
        const recorded = await ledger.recordTurns(reports, atMs);
        const isNew = (i: number) => recorded[i]?.kind === "recorded" && recorded[i].chargeIds.length > 0;
        for (const [i, { turn }] of reports.entries()) {
          if (held[i] == null && isNew(i) && turn.outcome === "delivered") await invariants().checkCredit(turn.payer);
        }
        return recorded;
      },
      async saveBroadcast(lease, id, broadcast) {
        const saved = await leased.saveBroadcast(lease, id, broadcast);
        invariants().saved(broadcast.raw);
        return saved;
      },
      async planBatch(lease, request, atMs) {
        const planned = await ledger.planBatch(lease, { ...request, net: noted(request.net, invariants) }, atMs);
        if (planned !== null) await invariants().checkPlanned(planned.id);
        return planned;
      },
    }),
    chain: through("chain", {
      ...port,
      async send(raw) {
        await invariants().sent(raw);
        return port.send(raw);
      },
    }),
    signers: keys.map((operator) => through("signer", unreliable(createSimulatedSigner(operator), faults))),
    clock,
    random: rng.next,
    fromBlock: 0n,
    holder,
    policy,
    report(event) {
      trace(`${actor.name} ${event.kind} ${Object.values(event).slice(1).join(" ")}`);
      invariants().reported(event);
    },
    looking: { lifted: 0 },
    reached(failpoint) {
      if (actor.spared || !faults.strike("crash at a failpoint", 0.01)) return;
      scheduler.kill(actor, `at ${failpoint}`);
      throw new SettlementError("ledger_unavailable", "killed", { retryable: true });
    },
  };
}

// Whoever lost its lease must not get through with anything.
function fenced(ledger: Ledger, invariants: () => Invariants): Ledger {
  const entries = LEASED.map((verb) => [
    verb,
    async (lease: Lease, ...args: unknown[]) => {
      const outdated = await invariants().isOutdated(lease);
      const answer = await (ledger[verb] as (...all: unknown[]) => Promise<unknown>)(lease, ...args);
      if (outdated) invariants().wroteWithoutLease(verb);
      return answer;
    },
  ]);
  return { ...ledger, ...Object.fromEntries(entries) };
}

type Net = Parameters<Ledger["planBatch"]>[1]["net"];

function noted(net: Net, invariants: () => Invariants): Net {
  return async (charges, budgets) => {
    const result = await net(charges, budgets);
    if (result.batch !== null) invariants().planned(result.batch, charges);
    return result;
  };
}

function unreliable(signer: Signer, faults: Faults): Signer {
  const timeOut = () => new SettlementError("chain_unavailable", "the signer timed out", { retryable: true });
  return {
    ...signer,
    async sign(transaction) {
      if (faults.strike("the signer times out", 0.06)) throw timeOut();
      const signed = await signer.sign(transaction);
      if (faults.strike("the signer's answer is lost", 0.06)) throw timeOut();
      return signed;
    },
  };
}
