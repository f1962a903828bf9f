import type { Address } from "viem";
import { NO_HASHES } from "../../../settlement/domain/charges/charge.ts";
import { MAX_CALLS_PER_TURN, type Turn } from "../../../settlement/domain/charges/turn.ts";
import { SettlementError } from "../../../settlement/domain/errors.ts";
import { type MicroUsdc, microUsdc } from "../../../settlement/domain/money.ts";
import type { SignedBudget } from "../../../settlement/domain/payer/budget.ts";
import type { Engine } from "../../../settlement/engine/createEngine.ts";
import type { Faults } from "../faults/faults.ts";
import type { Rng } from "../rng.ts";
import { hexOf, PRICE, type Scenario } from "../scenario.ts";
import type { Wallets } from "./wallets.ts";

// How often a turn is reported again that is above its payer's credit.
const MAX_REPORTS = 8;

// How many turns are reported together at the most.
const MAX_TOGETHER = 6;
// A turn with these cannot be read.
const TOO_MANY_CALLS = { amount: microUsdc(1n), calls: MAX_CALLS_PER_TURN + 1 };

// Answers after which a repetition must find what was done, whatever its payer can spend by then.
const DONE: readonly string[] = ["opened", "held", "duplicate"];

// A moment, in which others go on; and until the next block.
type Pauses = { wait: () => Promise<void>; later: () => Promise<void> };

export type Clients = ReturnType<typeof createClients>;

// Those who use the service. They repeat what was not answered, under the same id, until they know; and they remember
// everything that the service has acknowledged.
export function createClients(
  options: {
    engine: Engine;
    rng: Rng;
    faults: Faults;
    scenario: Scenario;
    wallets: Wallets;
    consent: Rng;
    questions: Rng;
  },
  pauses: Pauses,
) {
  const { engine, rng, faults, scenario, wallets, consent, questions } = options;
  const spentIn = new Map<string, { budget: bigint; captured: bigint }>();
  // What was ever delivered to a payer, acknowledged or not: nobody may be charged for more.
  const delivered = new Map<Address, bigint>();
  // What payers' calls in sessions came to.
  const captured = new Map<Address, bigint>();
  // What the service has acknowledged, by turn and call, and what it was ever asked for.
  const acknowledged = new Map<string, bigint>();
  const asked = new Map<string, bigint>();
  const turns = new Map<string, Turn>();
  let restores = 0;
  let busy = 0;
  let names = 0;
  let refusals = 0;
  let creditRefusals = 0;
  const objections: string[] = [];

  async function certain<T extends { kind: string }>(ask: () => Promise<T>, mayRepeat = false): Promise<T> {
    let asked = 0;
    let wasDone = false;
    const since = restores;
    for (;;) {
      try {
        asked += 1;
        const answer = await ask();
        if (wasDone && since === restores && answer.kind === "refused")
          objections.push("what had been granted was refused when asked again");
        wasDone ||= DONE.includes(answer.kind);
        if (asked === 1 && answer.kind === "duplicate" && !mayRepeat)
          objections.push("a first call was answered as a duplicate");
        if (!faults.strike("an answer to a client is lost", 0.03)) return answer;
      } catch (error) {
        if (!(error instanceof SettlementError && error.retryable)) throw error;
        if (error.code === "overloaded") refusals += 1;
        await pauses.later();
      }
    }
  }

  // What a hold was given for: there is no reason left to refuse it.
  async function agreed<T>(asked: Promise<T>): Promise<T> {
    try {
      return await asked;
    } catch (error) {
      if (error instanceof SettlementError && error.code === "overloaded")
        objections.push("a call that was held was refused for lack of room");
      throw error;
    }
  }

  const priced = (): MicroUsdc => microUsdc(BigInt(rng.below(rng.pick([20, 50_000, Number(PRICE)]))));

  function draw(): Turn {
    const tools = rng.shuffled(scenario.tools).slice(0, rng.below(scenario.tools.length + 1));
    return {
      id: `turn ${names++}`,
      payer: rng.pick(scenario.payers),
      outcome: rng.happens(0.1) ? "failed" : "delivered",
      modelCost: priced(),
      tools: tools.map((toolId) => ({ toolId, amount: priced(), calls: rng.between(1, 9) })),
      requestHash: hexOf(names),
      responseHash: hexOf(names + 1),
    };
  }

  async function deliver(): Promise<void> {
    const turn = draw();
    const cost = costOf(turn);
    const owed = owedFor(turn);
    // Some are asked for beforehand what they may cost at the most.
    const bound = cost > 0n && questions.happens(0.5) ? cost + BigInt(questions.below(500_000)) : null;
    const signed = wallets.raise(turn.payer, bound ?? cost, owed);
    if (bound !== null && !(await ask(turn, microUsdc(bound), signed))) return;
    add(delivered, turn.payer, cost);
    await report(turn, signed);
    // Nothing is in conflict with what was never recorded, and a ledger that forgets may take the second for the first.
    if (!rng.happens(0.1) || !acknowledged.has(turn.id) || scenario.forgetful) return;
    const other = await certain(() =>
      engine.recordTurn({ ...turn, modelCost: microUsdc(turn.modelCost + 1n) }).then(first),
    );
    // Nobody can be in conflict with what the ledger has lost.
    if (other.kind !== "conflict" && acknowledged.has(turn.id)) {
      objections.push(`another turn under the id of ${turn.id} was ${other.kind}`);
    }
  }

  // Holds what a turn may cost, and says whether it is delivered: some fail, and some of those who asked are never heard of again.
  async function ask({ id, payer }: Turn, amount: MicroUsdc, signed: SignedBudget | null): Promise<boolean> {
    const hold = { turnId: id, payer, amount };
    // What is held is too old some day, and then the same question may be refused.
    const held = await certain(() => engine.holdTurn(hold, signed).then(({ kind }) => ({ kind: `a turn is ${kind}` })));
    if (held.kind === "a turn is conflict") objections.push(`${id} was held once and is in conflict with itself`);
    if (held.kind !== "a turn is held" && held.kind !== "a turn is duplicate") return false;
    for (let turns = questions.below(4); turns > 0; turns--) await pauses.wait();
    const fate = questions.pick(["delivered", "delivered", "delivered", "voided", "forgotten"] as const);
    if (fate === "voided") await certain(() => agreed(engine.voidTurn(id, payer)), true);
    return fate === "delivered";
  }

  // Several at once, of which some bring a signature, one may come twice and one may be wrong. Each has an answer of its own.
  async function deliverMany(): Promise<void> {
    const list = Array.from({ length: questions.between(2, MAX_TOGETHER) }, () => {
      const turn = draw();
      return { turn, brought: wallets.raise(turn.payer, costOf(turn), owedFor(turn)) };
    });
    for (const { turn } of list) {
      add(delivered, turn.payer, costOf(turn));
      asked.set(turn.id, sumOf(turn));
    }
    const wrong = { ...draw(), tools: scenario.tools.slice(0, 1).map((toolId) => ({ toolId, ...TOO_MANY_CALLS })) };
    const beside = questions.happens(0.3) ? [{ turn: wrong, brought: null }] : [];
    const again = questions.happens(0.3) ? list.slice(0, 1) : [];
    const sent = questions.shuffled([...list, ...beside, ...again]);
    const since = restores;
    const { outcomes } = await certain(async () => ({ kind: "a list", outcomes: await engine.recordTurns(sent) }));
    if (outcomes.length !== sent.length) objections.push(`${sent.length} turns had ${outcomes.length} answers`);
    for (const [i, { turn, brought }] of sent.entries()) {
      const kind = outcomes[i]?.kind;
      if ((kind === "invalid") !== (turn === wrong)) objections.push(`${turn.id} of a list was ${kind}`);
      // What is above a payer's credit is reported again by itself, and so is what the ledger may have lost.
      if (turn !== wrong && !acknowledged.has(turn.id)) {
        if (since === restores && (kind === "recorded" || kind === "duplicate")) acknowledge(named(turn, brought));
        else await report(turn, brought, true);
      }
    }
  }

  // With the newest signature, if it draws on a budget: whoever repeats it after a restore must bring that again.
  async function report(turn: Turn, signed: SignedBudget | null = null, mayRepeat = false): Promise<void> {
    asked.set(turn.id, sumOf(turn));
    let answer = await certain(() => engine.recordTurn(turn, signed), mayRepeat);
    for (let tries = 0; answer.kind === "credit_exceeded" && tries < MAX_REPORTS; tries++) {
      creditRefusals += 1;
      await pauses.later();
      answer = await certain(() => engine.recordTurn(turn, signed), true);
    }
    // What is never recorded costs nobody anything.
    if (answer.kind === "credit_exceeded") return;
    if (answer.kind === "refused" || answer.kind === "budget_refused") {
      const { reason } = answer.kind === "refused" ? answer : answer.refusal;
      // Its budget has ended or was withdrawn, or the ledger has forgotten it: then nothing is owed.
      if (scenario.kindPayers && !scenario.forgetful) objections.push(`${turn.id} was refused: ${reason}`);
      return;
    }
    if (answer.kind === "conflict") objections.push(`${turn.id} was delivered once and is in conflict with itself`);
    acknowledge(named(turn, signed));
  }

  function acknowledge(turn: Turn): void {
    turns.set(turn.id, turn);
    acknowledged.set(turn.id, sumOf(turn));
  }

  // Somebody who has lost their notes reports once more what was acknowledged long ago.
  async function repeat(turn: Turn): Promise<void> {
    const since = restores;
    const answer = await certain(() => engine.recordTurn(turn), true);
    if (answer.kind !== "duplicate" && since === restores) {
      objections.push(`${turn.id} was delivered again and was ${answer.kind}`);
    }
    // A ledger that was taken back may have lost it, and has it now.
    if (answer.kind !== "conflict") acknowledged.set(turn.id, sumOf(turn));
  }

  // What was drawn on the budget meanwhile may be what the ledger has forgotten, so it is raised once more.
  async function reportOnceMore(turn: Turn): Promise<void> {
    if (turn.budgetId == null) return report(turn);
    const cost = sumOf(turn);
    const signed = wallets.raiseBy(
      turn.payer,
      cost,
      turn.tools.map(({ toolId }) => toolId),
    );
    return report(turn, signed);
  }

  // An answer to a question whose first answer may well be about an earlier call.
  const first = <T extends { kind: string }>(answer: T) => ({ ...answer });

  async function visit(): Promise<void> {
    const id = `session ${names++}`;
    const payer: Address = rng.pick(scenario.payers);
    const budget = microUsdc(BigInt(rng.between(1, 3_000_000)));
    // Once for all calls, or a little more with each.
    const perCall = consent.happens(0.5);
    const signed = wallets.raise(payer, perCall ? 0n : budget);
    const opened = await certain(() => engine.startSession(id, payer, budget, undefined, signed));
    if (opened.kind !== "opened" && opened.kind !== "duplicate") return;
    spentIn.set(id, { budget, captured: 0n });
    await Promise.all(Array.from({ length: rng.between(1, 5) }, () => use(id, payer, signed !== null && perCall)));
    // Its time may be over by then, which has closed it already.
    if (rng.happens(0.6)) await certain(() => engine.closeSession(id), true);
  }

  async function use(sessionId: string, payer: Address, signs: boolean): Promise<void> {
    const callId = `call ${names++}`;
    const amount = priced();
    const call = { callId, sessionId, toolId: rng.pick(scenario.tools), method: "ask", amount };
    const fate = rng.pick(["captured", "captured", "captured", "voided", "forgotten"] as const);
    const brought = signs ? wallets.raiseBy(payer, amount, [call.toolId]) : null;
    const held = await certain(() => engine.hold(call, brought));
    if (held.kind === "refused" && held.preflight.code === "credit_exceeded") creditRefusals += 1;
    if ((held.kind !== "held" && held.kind !== "duplicate") || fate === "forgotten") return;
    for (let turns = rng.below(4); turns > 0; turns--) await pauses.wait();
    if (fate === "voided") {
      // A sweep may have voided it, if the tool took too long.
      const answer = await certain(() => agreed(engine.void(callId)), true);
      if (answer.kind === "captured") objections.push(`${callId} was never captured and counts as such`);
      return;
    }
    add(delivered, payer, amount);
    asked.set(callId, amount);
    const answer = await certain(() => agreed(engine.capture(callId, NO_HASHES)));
    const session = spentIn.get(sessionId);
    if (answer.kind !== "captured" && answer.kind !== "duplicate") return;
    acknowledged.set(callId, amount);
    add(captured, payer, amount);
    // The ledger may have forgotten the session meanwhile.
    if (session === undefined) return;
    session.captured += amount;
    if (session.captured > session.budget) objections.push(`${sessionId} captured more than its budget`);
  }

  function begin(script: () => Promise<void>): void {
    busy += 1;
    script().then(
      () => {
        busy -= 1;
      },
      (error: unknown) => objections.push(`a client was answered with ${error}`),
    );
  }

  return {
    // One, or several that are reported together. Where one batch is waited for, there is one.
    deliver: () => begin(!scenario.handover && questions.happens(0.2) ? deliverMany : deliver),
    visit: () => begin(visit),
    // One of those who were answered, as `other` decides. Returns which turn it is.
    repeat(other: Rng): string | null {
      const known = [...turns.values()].filter(({ id }) => acknowledged.has(id));
      if (known.length === 0) return null;
      const turn = other.pick(known);
      begin(() => repeat(turn));
      return turn.id;
    },
    busy: () => busy,
    // How often they were asked to come back later, because too much waited.
    refusals: () => refusals,
    // How often they were above a payer's credit.
    creditRefusals: () => creditRefusals,
    acknowledged: () => [...acknowledged.values()].reduce((sum, amount) => sum + amount, 0n),
    // The ledger was taken to another moment and has only these turns and calls, of which it may have lost some before. Whoever has a
    // record of its own reports the lost turns again.
    restored(known: ReadonlySet<string>, reportAgain: boolean): void {
      restores += 1;
      spentIn.clear();
      for (const [id, amount] of asked) if (known.has(id)) acknowledged.set(id, amount);
      for (const id of [...acknowledged.keys()].filter((id) => !known.has(id))) {
        acknowledged.delete(id);
        const turn = turns.get(id);
        if (turn !== undefined && reportAgain) begin(() => reportOnceMore(turn));
      }
    },
    delivered: (payer: Address) => delivered.get(payer) ?? 0n,
    captured: (payer: Address) => captured.get(payer) ?? 0n,
    objections,
  };
}

const named = (turn: Turn, signed: SignedBudget | null): Turn =>
  signed === null ? turn : { ...turn, budgetId: signed.id };

const owedFor = ({ outcome, tools }: Turn) => (outcome === "failed" ? [] : tools.map(({ toolId }) => toolId));

// What its payer owes for it.
const costOf = (turn: Turn) => (turn.outcome === "failed" ? turn.modelCost : sumOf(turn));

const sumOf = ({ tools, modelCost }: Turn) => tools.reduce((sum, { amount }) => sum + amount, modelCost as bigint);

function add(sums: Map<Address, bigint>, payer: Address, amount: bigint): void {
  sums.set(payer, (sums.get(payer) ?? 0n) + amount);
}
