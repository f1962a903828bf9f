import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Signer } from "../../settlement/chain/signer.ts";
import { SettlementError } from "../../settlement/domain/errors.ts";
import type { EngineContext } from "../../settlement/engine/context.ts";
import { createEngine } from "../../settlement/engine/createEngine.ts";
import { createLedger } from "../../settlement/ledger/createLedger.ts";
import type { Lease, Ledger } from "../../settlement/ledger/ledger.ts";
import { openSqlite } from "../../settlement/ledger/sqlite.ts";
import { createChance } from "./chance.ts";
import { createClients } from "./clients.ts";
import { createFaults } from "./faults.ts";
import { createFaultyDatabase } from "./faultyDatabase.ts";
import { createLaws } from "./laws.ts";
import { type Actor, createScheduler, settled } from "./scheduler.ts";
import { createSimulatedChain, createSimulatedSigner } from "./simulatedChain.ts";
import { type Situation, situationsIn } from "./situations.ts";
import { disturb, excuse, fundsOf, heal, INSURANCE, policyOf, protocolOf, worldOf } from "./world.ts";

export type Run = {
  seed: number;
  ticks: number;
  faultsInjected: number;
  faults: Readonly<Record<string, number>>;
  crashes: number;
  reorgs: number;
  // What the run went through, of those things that matter.
  reached: readonly Situation[];
  violations: readonly string[];
  trace: readonly string[];
  // Equal for two runs that went the same way.
  digest: string;
};

export type SimulateOptions = { trace?: boolean; faults?: boolean };

const START_MS = 1_800_000_000_000;
const BLOCK_MS = 2_000;
const MAX_ROUNDS_TO_THE_END = 600;
// Enough for everybody else to use up all attempts and be settled for by the insurance account.
const ROUNDS_BESIDE_A_BROKEN_ROW = 250;
// A round of the engine makes a few dozen calls at the most, so this is a bound on a round that never ends.
const MAX_STEPS_PER_ROUND = 3_000;

// Memory, where there is a folder for it: the ledger's promises to the disk are tested elsewhere.
const FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

const LEASED = [
  "planSubmission",
  "assignNonce",
  "saveBroadcast",
  "unplanBatch",
  "recordInclusion",
  "recordLoss",
  "finalize",
  "release",
] as const;

type Daemon = {
  name: string;
  generation: number;
  actor: Actor;
  tick: () => Promise<void>;
  busy: boolean;
  clockOffsetMs: number;
};

// One run: several engines on one ledger and one chain, users who deliver and call, and everything that can go wrong, all
// decided by the seed. Then the faults stop, and everything has to come to its end.
export async function simulate(seed: number, options: SimulateOptions = {}): Promise<Run> {
  const folder = mkdtempSync(join(FOLDER, "simulator-"));
  const database = openSqlite({ path: join(folder, "ledger") });
  try {
    return await simulateOn(database, seed, options);
  } finally {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function simulateOn(
  database: ReturnType<typeof openSqlite>,
  seed: number,
  options: SimulateOptions,
): Promise<Run> {
  const lines: string[] = [];
  let nowMs = START_MS;
  const log = options.trace ? (line: string) => lines.push(`${(nowMs - START_MS) / 1000} s: ${line}`) : () => {};
  const chance = createChance(seed);
  const faults = createFaults(createChance(seed + 1e9), log, options.faults ?? true);
  const world = worldOf(chance);
  const policy = policyOf(chance);
  const chain = createSimulatedChain(chance, faults, {
    protocol: protocolOf(chance, world),
    insurance: INSURANCE,
    funds: fundsOf(world),
    maxRows: world.maxRows,
    startAt: START_MS / 1000,
  });
  const scheduler = createScheduler(chance, faults, () => nowMs);
  const ledger = await createLedger(createFaultyDatabase(database, faults));
  const truth = await createLedger(database);
  let ticks = 0;

  const contextFor = (actor: Actor, holder: string, offsetMs: () => number): EngineContext => ({
    ledger: through(actor, "ledger", {
      ...fenced(ledger),
      planBatch: (lease, request, atMs) => ledger.planBatch(lease, { ...request, net: noted(request.net) }, atMs),
    }),
    chain: through(actor, "chain", {
      ...chain.port,
      async send(raw) {
        await laws.sent(raw);
        return chain.port.send(raw);
      },
    }),
    signers: world.operators.map((operator) => through(actor, "signer", unreliable(createSimulatedSigner(operator)))),
    clock: { nowMs: () => nowMs + offsetMs() },
    random: chance.next,
    holder,
    policy,
    report(event) {
      log(`${actor.name} ${event.kind} ${Object.values(event).slice(1).join(" ")}`);
      if (event.kind === "key_used_elsewhere") laws.alarmed(event);
    },
    reached(milestone) {
      if (actor.spared || !faults.strike("crash at a milestone", 0.01)) return;
      scheduler.kill(actor, `at ${milestone}`);
      throw new SettlementError("ledger_unavailable", "killed", { retryable: true });
    },
  });

  // Every function of a port becomes a call that the scheduler decides about.
  function through<T extends object>(actor: Actor, name: string, port: T): T {
    const entries = Object.entries(port).map(([verb, value]) => {
      if (typeof value !== "function") return [verb, value];
      return [verb, (...args: unknown[]) => scheduler.call(actor, `${name}.${verb}`, async () => value(...args))];
    });
    return Object.fromEntries(entries) as T;
  }

  // Whoever lost its lease must not get through with anything.
  function fenced(verbs: Ledger): Ledger {
    const entries = LEASED.map((verb) => [
      verb,
      async (lease: Lease, ...args: unknown[]) => {
        const outdated = await laws.isOutdated(lease);
        const answer = await (verbs[verb] as (...all: unknown[]) => Promise<unknown>)(lease, ...args);
        if (outdated) laws.wroteWithoutLease(verb);
        return answer;
      },
    ]);
    return { ...verbs, ...Object.fromEntries(entries) };
  }

  const noted: (net: Parameters<Ledger["planBatch"]>[1]["net"]) => typeof net = (net) => (charges) => {
    const result = net(charges);
    if (result.batch !== null) laws.planned(result.batch);
    return result;
  };

  function unreliable(signer: Signer): Signer {
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

  const api: Actor = { name: "api", alive: true, spared: true, frozenUntilMs: 0 };
  const apiContext = contextFor(api, "api", () => 0);
  const apiEngine = createEngine(apiContext, async (payer) => {
    const [spendable] = await apiContext.chain.spendable([payer]);
    if (spendable === undefined) throw new RangeError(`the chain left out ${payer}`);
    return spendable;
  });
  const clients = createClients(apiEngine, chance, faults, world, () => scheduler.call(api, "wait", async () => {}));
  const laws = createLaws({ chain, ledger: truth, read: database.read, clients, world });

  function start(daemon: Pick<Daemon, "name" | "generation">): Daemon {
    const actor: Actor = { name: daemon.name, alive: true, spared: false, frozenUntilMs: 0 };
    const started: Daemon = { ...daemon, actor, busy: false, clockOffsetMs: 0, tick: async () => {} };
    // A process that is started again may have its old name or another one.
    const holder = chance.happens(0.5) ? daemon.name : `${daemon.name}, ${daemon.generation}`;
    const context = contextFor(actor, holder, () => started.clockOffsetMs);
    const engine = createEngine(context, () => Promise.reject(new RangeError("a daemon asks for nobody")));
    started.tick = engine.tick;
    return started;
  }

  function beginTick(daemon: Daemon): void {
    daemon.busy = true;
    ticks += 1;
    const { actor } = daemon;
    daemon.tick().then(
      () => {
        daemon.busy = false;
      },
      (error: unknown) => {
        daemon.busy = false;
        if (!actor.alive || (error instanceof SettlementError && error.retryable)) return;
        laws.violations.push(`a round of ${daemon.name} ended with ${error}`);
      },
    );
  }

  let daemons = Array.from({ length: chance.between(1, 3) }, (_, i) =>
    start({ name: `daemon ${i + 1}`, generation: 0 }),
  );

  async function steps(limit: number): Promise<void> {
    for (let i = 0; i < limit; i++) if (!(await scheduler.step())) break;
  }

  // ── While things go wrong.
  const rounds = chance.between(30, 90);
  let stalledRounds = 0;
  for (let round = 0; round < rounds && laws.violations.length === 0; round++) {
    nowMs += BLOCK_MS;
    if (faults.strike("hours go by", 0.005)) nowMs += chance.between(1, 30) * 3_600_000;
    if (faults.strike("the sequencer stalls", 0.02)) stalledRounds = chance.between(2, 15);
    disturb(chain, chance, faults, world);
    if (stalledRounds > 0) stalledRounds -= 1;
    else chain.produce(Math.floor(nowMs / 1000));
    if (faults.strike("a reorganisation", 0.05)) chain.reorganise();
    else if (faults.strike("what came from elsewhere is lost", chain.foreign()?.followed ? 0.5 : 0.02)) {
      chain.reorganise();
    }
    if (chance.happens(world.pace)) clients.deliver();
    if (chance.happens(0.12)) clients.visit();

    daemons = daemons.map((daemon) => {
      if (faults.strike("a clock jumps", 0.01)) daemon.clockOffsetMs = chance.between(-30, 30) * 1000;
      if (daemon.actor.alive) return daemon;
      return chance.happens(0.3) ? start({ name: daemon.name, generation: daemon.generation + 1 }) : daemon;
    });
    for (const daemon of daemons) if (daemon.actor.alive && !daemon.busy && chance.happens(0.7)) beginTick(daemon);
    await settled();
    await steps(chance.between(5, 80));
    await laws.check();
  }

  // ── And when they no longer do.
  faults.stop();
  heal(chain, world);
  for (const daemon of daemons) daemon.actor.frozenUntilMs = 0;
  daemons = daemons.map((daemon) => {
    daemon.clockOffsetMs = 0;
    return daemon.actor.alive ? daemon : start({ name: daemon.name, generation: daemon.generation + 1 });
  });
  let done = false;
  for (let round = 0; round < MAX_ROUNDS_TO_THE_END && !done && laws.violations.length === 0; round++) {
    nowMs += BLOCK_MS;
    if (round === ROUNDS_BESIDE_A_BROKEN_ROW) {
      await laws.checkAllBut(world.stubborn);
      excuse(chain);
    }
    chain.produce(Math.floor(nowMs / 1000));
    for (const daemon of daemons) if (!daemon.busy) beginTick(daemon);
    await settled();
    await steps(MAX_STEPS_PER_ROUND);
    await laws.check();
    done = await laws.isDone();
  }
  if (laws.violations.length === 0) {
    if (!done) laws.violations.push(`not everything has ended ${MAX_ROUNDS_TO_THE_END} rounds after the last fault`);
    else await laws.checkEnd();
  }

  const totals = await truth.totals();
  const summary = [ticks, scheduler.crashes(), chain.reorgs(), chain.head().hash, nowMs, ...Object.values(totals)];
  const digest = createHash("sha256").update(summary.join()).digest("hex");
  return {
    seed,
    ticks,
    faultsInjected: [...faults.counts.values()].reduce((sum, count) => sum + count, 0),
    faults: Object.fromEntries(faults.counts),
    crashes: scheduler.crashes(),
    reorgs: chain.reorgs(),
    reached: await situationsIn(database.read),
    violations: laws.violations,
    trace: lines,
    digest,
  };
}
