import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "viem";
import { SettlementError } from "../../settlement/domain/errors.ts";
import { archive } from "../../settlement/engine/archive/archive.ts";
import { createEngine } from "../../settlement/engine/createEngine.ts";
import { createLedger } from "../../settlement/ledger/createLedger.ts";
import { DISKLESS } from "../../settlement/ledger/testing/diskless.ts";
import { createMemoryFolder } from "../../settlement/ledger/testing/memoryFolder.ts";
import { withClock } from "../../settlement/ledger/testing/withClock.ts";
import { createSimulatedChain } from "./chain/simulatedChain.ts";
import { archivedBlocks } from "./checks/archivedBlocks.ts";
import { createInvariants } from "./checks/invariants.ts";
import { type Situation, situationsIn } from "./checks/situations.ts";
import { createWatchingPayers } from "./checks/watchingPayers.ts";
import { CHARGES_AGAIN, chargeAgain } from "./faults/dishonest.ts";
import { disturb, excuse, heal, payUp, setLimit } from "./faults/disturb.ts";
import { createFaults } from "./faults/faults.ts";
import { createFaultyDatabase } from "./faults/faultyDatabase.ts";
import { openRestorable } from "./faults/restorableDatabase.ts";
import { habitsOf } from "./habits.ts";
import { createClients } from "./processes/clients.ts";
import { beginArchive, beginTick, type Daemon, startDaemon } from "./processes/daemon.ts";
import { createEngineContext, type Surroundings } from "./processes/engineContext.ts";
import { createPerson } from "./processes/person.ts";
import { type Actor, createScheduler, settled } from "./processes/scheduler.ts";
import { createWallets } from "./processes/wallets.ts";
import { createRng } from "./rng.ts";
import { fundsOf, INSURANCE, OPERATOR_LIMIT, policyOf, protocolOf, scenarioOf } from "./scenario.ts";

export type Run = {
  seed: number;
  ticks: number;
  faultsInjected: number;
  faults: Readonly<Record<string, number>>;
  crashes: number;
  reorgs: number;
  // How often an operator had to wait for its limit.
  limitsHit: number;
  // How often an endpoint stood still.
  staleEndpoints: number;
  // What payers who watch got back from the court in the end, in micro-USDC.
  givenBack: bigint;
  // What the run went through, of those things that matter.
  reached: readonly Situation[];
  violations: readonly string[];
  trace: readonly string[];
  // Equal for two runs that went the same way.
  digest: string;
};

export type SimulateOptions = {
  // Whether to keep what happens for the end, or whom to tell of it at once.
  trace?: boolean | ((line: string) => void);
  faults?: boolean;
};

const KEY_LOST = "every process loses a key";
const USED_BESIDE_PEER = "a key is used elsewhere, on the nonce of a batch that a peer settles";
const CLOCK_SET = "the clock of who takes deliveries is set";
const START_MS = 1_800_000_000_000;
const BLOCK_MS = 2_000;
const HOUR_MS = 3_600_000;
const MAX_STEPS_TO_THE_END = 600;
// Enough for everybody else to use up all attempts and be settled for by the insurance account.
const STEPS_BESIDE_A_BROKEN_ROW = 250;
const STEPS_AFTER_A_FENCE = 100;
// What is due for so long is late.
const STEPS_TO_SETTLE = 25;
// A tick of the engine makes a few dozen calls at the most, so this is a bound on a tick that never ends.
const MAX_CALLS_PER_STEP = 3_000;
// Where the operators' limits bind, half a day goes by this often, so that they have room again.
const STEPS_PER_HALF_DAY = 10;

// Below what some calls cost, and how long everything else may take beside those, at half a day for every few steps.
const NARROW_LIMIT = 1_500_000n;
const NARROW_STEPS = 400;
const NARROW_STEPS_PER_HALF_DAY = 4;

// One run: several engines on one ledger and one chain, users who deliver and call, and everything that can go wrong, all
// decided by the seed. Then the faults stop, and everything must come to its end.
export async function simulate(seed: number, options: SimulateOptions = {}): Promise<Run> {
  const folder = mkdtempSync(join(DISKLESS, "simulator-"));
  const store = openRestorable(folder);
  try {
    return await simulateOn(store, seed, options);
  } finally {
    await store.database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function simulateOn(
  { database: files, copy, restore }: ReturnType<typeof openRestorable>,
  seed: number,
  options: SimulateOptions,
): Promise<Run> {
  const lines: string[] = [];
  let nowMs = START_MS;
  // The database's clock is right; those of the daemons may not be.
  const database = withClock(files, { nowMs: () => nowMs });
  const note = typeof options.trace === "function" ? options.trace : (line: string) => lines.push(line);
  const trace = options.trace ? (line: string) => note(`${(nowMs - START_MS) / 1000} s: ${line}`) : () => {};
  const rng = createRng(seed);
  const faults = createFaults(createRng(seed + 1e9), trace, options.faults ?? true);
  // Drawn apart, so that whoever adds one changes no other run.
  const consent = createRng(seed + 3e9);
  const drawn = scenarioOf(rng, consent);
  const habits = habitsOf(createRng(seed + 2e9), createRng(seed + 7e9), drawn);
  const scenario = habits.narrow ? { ...drawn, operatorLimit: NARROW_LIMIT } : drawn;
  const wallets = createWallets(scenario, consent, () => nowMs);
  const policy = policyOf(rng);
  // Drawn apart, like whatever else came later.
  const lies = createRng(seed + 9e9);
  const lags = createRng(seed + 11e9);
  const failovers = createRng(seed + 12e9);
  const inventions = createRng(seed + 16e9);
  const chain = createSimulatedChain(rng, faults, {
    protocol: protocolOf(rng, scenario),
    insurance: INSURANCE,
    funds: fundsOf(scenario),
    maxRows: scenario.maxRows,
    endpoints: scenario.endpoints,
    lies: lies.happens(0.3) ? lies : null,
    lags: lags.happens(0.25) ? lags : null,
    inventions: inventions.happens(0.4) ? inventions : null,
    startAt: START_MS / 1000,
    finalityBlocks: scenario.finalityBlocks,
  });
  // Decided by numbers of its own, so that runs without an archive go as they would.
  const archiving = createRng(seed + 2e9);
  // What is archived has been final for a month. A chain that undoes that is beyond what anybody can put right by itself.
  const archives = archiving.happens(0.3) && !scenario.tight && !habits.unfaithful;
  const folder = createMemoryFolder();
  const archivedNow = () => archivedBlocks(database.read, folder);
  const scheduler = createScheduler(rng, faults, () => nowMs);
  const surroundings: Surroundings = {
    scenario,
    policy,
    rng,
    faults,
    scheduler,
    ledger: await createLedger(createFaultyDatabase(database, faults), { archive: folder }),
    chain,
    nowMs: () => nowMs,
    trace,
    invariants: () => invariants,
  };
  // The ledger and the chain as they are, without faults.
  const trueChain = chain.connectHonestly(() => nowMs);
  const truth = await createLedger(database, { archive: folder });

  const api: Actor = { name: "api", alive: true, spared: true, frozenUntilMs: 0 };
  let apiOffsetMs = 0;
  const apiContext = createEngineContext(surroundings, api, "api", () => apiOffsetMs);
  const apiEngine = createEngine(apiContext, async (payer, _, id = null) => {
    const [spendable] = await apiContext.chain.spendable([payer], id === null ? [] : [{ payer, id }]);
    if (spendable === undefined) throw new RangeError(`the chain left out ${payer}`);
    return spendable;
  });
  const clients = createClients(
    { engine: apiEngine, rng, faults, scenario, wallets, consent, questions: createRng(seed + 7e9) },
    {
      // Whoever waits is not cut off by what happens to the ledger.
      wait: () => scheduler.call(api, "wait", async () => {}).catch(() => undefined),
      later: () => new Promise((resolve) => later.push(resolve)),
    },
  );
  // Somebody sets the clock of the process that takes what is delivered, between its ticks. Drawn apart.
  const settings = createRng(seed + 13e9);
  const isSet = settings.happens(0.2);
  let [isFollowing, hasFollowed] = [false, false];
  async function follow(): Promise<void> {
    isFollowing = true;
    try {
      await apiEngine.followClock();
      hasFollowed = true;
    } catch (error) {
      if (!(error instanceof SettlementError && error.retryable)) violations.push(`a clock was not read: ${error}`);
    }
    isFollowing = false;
  }
  function setClock(): void {
    if (!isSet) return;
    if (!isFollowing) void follow();
    if (hasFollowed && faults.strike(CLOCK_SET, 0.1)) apiOffsetMs = settings.between(-300, 300) * 1000;
  }
  let usedBesidePeers = 0;
  const keyUsedElsewhere = () => faults.counts.has("a key is used elsewhere") || usedBesidePeers > 0;
  const watching = createWatchingPayers({ chain, scenario });
  const invariants = createInvariants({
    chain,
    port: trueChain,
    ledger: truth,
    read: database.read,
    clients,
    wallets,
    scenario,
    policy,
    nowMs: () => nowMs,
    habits,
    keyUsedElsewhere,
    archived: archivedNow,
    planned: watching.planned,
  });
  const { violations } = invariants;
  // Decided by numbers of its own, like whatever else came later.
  const dishonesty = createRng(seed + 6e9);
  const dishonest = scenario.thief && dishonesty.happens(0.5);
  let chargedAgain = 0;

  let daemons = Array.from({ length: rng.between(1, 3) }, (_, i) =>
    startDaemon(surroundings, `daemon ${i + 1}`, 0, habits.keysOf(i)),
  );
  const offsets = new Map(daemons.map(({ name }) => [name, scenario.skewed ? rng.between(-300, 300) * 1000 : 0]));
  const offsetOf = (name: string) => offsets.get(name) ?? 0;
  for (const daemon of daemons) daemon.clockOffsetMs = offsetOf(daemon.name);
  // The key that nobody has any more, once that is so.
  let lost: Address | null = null;
  const left = <T extends Address>(keys: readonly T[]) => keys.filter((key) => key !== lost);
  const restarted = ({ name, generation }: Daemon) => {
    const daemon = startDaemon(surroundings, name, generation + 1, left(habits.keysOf(Number(name.at(-1)) - 1)));
    daemon.clockOffsetMs = offsetOf(name);
    return daemon;
  };
  let ticks = 0;

  function tickOf(daemon: Daemon): void {
    ticks += 1;
    beginTick(daemon, (error) => violations.push(`a tick of ${daemon.name} ended with ${error}`));
  }

  let resumedArchives = 0;
  let archivedRepetitions = 0;

  // What is final leaves, beside everything else.
  async function archiveSome(): Promise<void> {
    for (const daemon of daemons) {
      if (!daemon.actor.alive || daemon.archiving || !archiving.happens(0.2)) continue;
      const isIdle = !daemons.some((other) => other.actor.alive && other.archiving);
      if (isIdle && (await truth.findUnfinishedArchive()) !== null) resumedArchives += 1;
      beginArchive(daemon, (error) => violations.push(`an archive of ${daemon.name} ended with ${error}`));
    }
  }

  // What was delivered comes again, however long ago it was.
  async function repeatSome(): Promise<void> {
    const repeated = archiving.happens(0.2) ? clients.repeat(archiving) : null;
    if (repeated === null) return;
    const here = await database.read.all("SELECT id FROM turns WHERE id = $1", [repeated]);
    if (here.length === 0) archivedRepetitions += 1;
  }

  async function calls(limit: number): Promise<void> {
    for (const comeBack of later.splice(0)) comeBack();
    for (let i = 0; i < limit; i++) if (!(await scheduler.step())) break;
  }

  // Those who come back when time has passed. If they came back at once, a service that is full would be asked by the same
  // few until the step is over.
  const later: (() => void)[] = [];

  function produceBlocks(): void {
    for (let block = 0; block < scenario.blocksPerStep; block++) {
      nowMs += BLOCK_MS;
      chain.produce(Math.floor(nowMs / 1000));
    }
  }

  let stalledSteps = 0;
  // For longer than what makes an endpoint stale that does not move. Drawn apart.
  const stalls = createRng(seed + 14e9);
  const stallsForLong = stalls.happens(0.15);
  const stallLonger = () => {
    if (stallsForLong) return stalls.between(10, 40);
    return chain.invents() ? inventions.between(15, 40) : 0;
  };

  // A copy for a restore is old; what a failover falls back to is a moment behind.
  let backup = copy();
  let replica = copy();
  // Copies of all times, those that have not been included: whoever has restored a copy finds a newer one. Drawn apart, and not where
  // what is reported again has another budget.
  const times = createRng(seed + 8e9);
  const kept = [backup];
  async function forget(): Promise<void> {
    if (rng.happens(0.04)) backup = copy();
    if (times.happens(0.1)) kept.push(copy());
    if (rng.happens(0.5)) replica = copy();
    // What is forgotten while it waits in a mempool is the worst: nobody can see it, and it may still be mined.
    const waiting = chain.pooled().length > 0;
    const restored = faults.strike("the ledger is restored from a copy", waiting ? 0.1 : 0.02);
    if (!restored && !faults.strike("a failover loses the last commits", waiting ? 0.15 : 0.03)) return;
    if (waiting && faults.strike("the sequencer stalls over a restore", 0.5)) stalledSteps = rng.between(2, 15);
    const gone = new SettlementError("ledger_unavailable", "the ledger is gone", { retryable: true });
    // A driver connects to the standby by itself: half of the failovers come in the middle of a tick that goes on there.
    const isNoticed = restored || failovers.happens(0.5);
    for (const { actor } of daemons) {
      if (restored && actor.alive) scheduler.kill(actor, "for a restore");
      if (isNoticed) scheduler.cut(actor, gone);
    }
    if (!isNoticed) trace("fault a failover comes in the middle of ticks");
    scheduler.cut(api, gone);
    person.cut(gone);
    await settled();
    const another = restored && scenario.consenting.length === 0 && times.happens(0.3);
    if (another) trace("fault a copy of another time is restored");
    await restore(another ? times.pick(kept) : restored ? backup : replica);
    invariants.restored();
    if (await isForgotten())
      for (const { actor } of daemons) if (actor.alive) scheduler.kill(actor, "until the key is named");
    backup = copy();
    replica = backup;
    const known = await database.read.all(
      "SELECT id FROM turns UNION SELECT call_id FROM charges WHERE call_id IS NOT NULL",
    );
    const left = await archivedNow();
    const archivedNames = left.flatMap(({ turns, holds }) => [
      ...turns.map(({ id }) => id),
      ...holds.filter(({ state }) => state === "captured").map(({ call_id: id }) => id),
    ]);
    const names = [...known.map(({ id }) => id), ...archivedNames];
    clients.restored(new Set(names.map(String)), rng.happens(0.5));
  }

  const person = createPerson({
    contextOf: (actor) => createEngineContext(surroundings, actor, "a person", () => 0, left(scenario.operators)),
    toRetire,
    scheduler,
    truth,
    invariants: () => invariants,
    rng: createRng(seed + 3e9),
    cautious: (options.faults ?? true) ? createRng(seed + 15e9) : null,
    trace,
  });

  // Somebody who has a key takes the nonce that our own batch leaves over when a peer settles it: by then nobody waits for it. Drawn apart.
  const leftOver = createRng(seed + 17e9);
  const settledByPeers = () => faults.counts.get("a peer settles the same batch first") ?? 0;
  function useBesidePeer(): void {
    const own = chain.pooled().find(({ from }) => scenario.operators.includes(from));
    if (own === undefined || scenario.handover || !leftOver.happens(0.5)) return;
    trace(`fault ${USED_BESIDE_PEER}`);
    usedBesidePeers += 1;
    chain.inject({ from: own.from, to: own.from, calldata: "0x", gasLimit: 21_000n, fleeting: false });
  }

  // Nobody has the key any more, and the guardian has suspended it.
  function lose(operator: Address): void {
    trace(`fault ${KEY_LOST}`);
    lost = operator;
    for (const { actor } of daemons) if (actor.alive) scheduler.kill(actor, "to be started without the key");
    suspend();
  }

  // Again after the chain has undone what was final, and the suspension with it.
  function suspend(): void {
    const operator = lost;
    if (operator !== null) chain.do(KEY_LOST, ({ protocol }) => setLimit(protocol, operator, 0n));
  }

  async function toRetire(): Promise<Address | null> {
    if (lost === null) return null;
    const known = (await truth.listOperators()).find(({ operator }) => operator === lost);
    if (known === undefined && !(await isForgotten())) return null;
    const isDone = known?.retired && known.fence === 0 && (await truth.listOpenSubmissions(lost, 1)).length === 0;
    return isDone ? null : lost;
  }

  // A copy that is older than the key's first use does not know that what it settled since is ours. Whoever restores one names the
  // key before anything is started, unless it has settled nothing and never will.
  async function isForgotten(): Promise<boolean> {
    if (lost === null || (await truth.listOperators()).some(({ operator }) => operator === lost)) return false;
    const final = chain.blockAt(chain.finalizedNumber())?.state.protocol;
    const isSuspended = final?.operatorLimits.get(lost)?.cap === 0n;
    return !isSuspended || chain.head().state.protocol.heads.has(lost);
  }

  // Deep enough for batches that were final, and a while before anybody looks: with daemons that were stopped for it, or not.
  const deeds = createRng(seed + 4e9);
  function undo(): void {
    if (!faults.strike("final blocks are undone", 0.03)) return;
    if (deeds.happens(0.5)) {
      for (const { actor } of daemons) if (actor.alive) scheduler.kill(actor, "before the chain undoes what was final");
    }
    chain.undo(deeds.between(1, 2 * scenario.finalityBlocks));
    invariants.undone();
    if (deeds.happens(0.5)) stalledSteps = deeds.between(1, 6);
    else for (let passed = 0; passed < 2 * scenario.finalityBlocks; passed += scenario.blocksPerStep) produceBlocks();
  }

  async function goWrong(): Promise<void> {
    const steps = rng.between(30, 90);
    for (let step = 0; step < steps && violations.length === 0; step++) {
      if (faults.strike("hours go by", 0.005)) nowMs += rng.between(1, 30) * HOUR_MS;
      if (faults.strike("the sequencer stalls", 0.02)) stalledSteps = rng.between(2, 15) + stallLonger();
      if (habits.lost?.atStep === step && (options.faults ?? true)) lose(habits.lost.operator);
      if (scenario.forgetful) await forget();
      if (habits.unfaithful) undo();
      await person.look(habits.impatient);
      const peers = settledByPeers();
      disturb(chain, rng, faults, { ...scenario, operators: left(scenario.operators) }, wallets, consent);
      if (settledByPeers() > peers) useBesidePeer();
      if (dishonest && (options.faults ?? true) && chargeAgain(chain, dishonesty, scenario, watching)) {
        chargedAgain += 1;
        trace(`fault ${CHARGES_AGAIN}`);
      }
      if (stalledSteps > 0) {
        stalledSteps -= 1;
        nowMs += BLOCK_MS;
        chain.stall();
      } else produceBlocks();
      if (faults.strike("a reorg", 0.05)) chain.reorg();
      else if (faults.strike("what came from elsewhere is lost", chain.foreign()?.followed ? 0.5 : 0.02)) {
        chain.reorg();
      }
      // One batch, and nothing else until another key has taken it over: then it has the same nonce number.
      if (scenario.handover && step === 0) clients.deliver();
      const quiet = scenario.handover && !chain.hasSent(scenario.operators.slice(1));
      if (!quiet && !scenario.tight && rng.happens(scenario.pace)) clients.deliver();
      if (!quiet && rng.happens(scenario.tight ? 0.5 : 0.12)) clients.visit();

      setClock();
      const mayStart = !(await isForgotten());
      daemons = daemons.map((daemon) => {
        if (faults.strike("a clock jumps", 0.01)) daemon.clockOffsetMs = rng.between(-300, 300) * 1000;
        if (daemon.actor.alive) return daemon;
        return rng.happens(0.3) && mayStart ? restarted(daemon) : daemon;
      });
      for (const daemon of daemons) if (daemon.actor.alive && !daemon.busy && rng.happens(0.7)) tickOf(daemon);
      if (archives) {
        await archiveSome();
        await repeatSome();
      }
      await settled();
      await calls(rng.between(5, 80));
      await invariants.check();
    }
  }

  async function comeToAnEnd(): Promise<void> {
    faults.stop();
    heal(chain, { ...scenario, operators: left(scenario.operators) });
    suspend();
    for (const daemon of daemons) daemon.actor.frozenUntilMs = 0;
    for (const daemon of daemons) daemon.clockOffsetMs = offsetOf(daemon.name);
    if (!(await isForgotten())) daemons = daemons.map((daemon) => (daemon.actor.alive ? daemon : restarted(daemon)));
    let done = false;
    const limited = scenario.operatorLimit < OPERATOR_LIMIT || scenario.capped;
    let paidUp = false;
    let dueSinceMs = 0;
    let lastFenced = -STEPS_AFTER_A_FENCE;
    const stepsPerHalfDay = habits.narrow ? NARROW_STEPS_PER_HALF_DAY : STEPS_PER_HALF_DAY;
    for (let step = 0; step < MAX_STEPS_TO_THE_END && !done && violations.length === 0; step++) {
      if (limited && step % stepsPerHalfDay === 0) nowMs += 12 * HOUR_MS;
      if (step === STEPS_BESIDE_A_BROKEN_ROW - STEPS_TO_SETTLE) dueSinceMs = nowMs;
      if (step === STEPS_BESIDE_A_BROKEN_ROW) {
        // Where the operators' limits bind, everybody waits for hours, whoever else is in the batch; and where the chain has undone
        // what was final, or the ledger has forgotten something, until the fences are gone.
        const isOpen = step - lastFenced > STEPS_AFTER_A_FENCE;
        if (!limited && !habits.unfaithful && isOpen) {
          await invariants.checkAllBut(scenario.stubborn, dueSinceMs);
        }
        excuse(chain);
      }
      if (habits.narrow && step === NARROW_STEPS) {
        await invariants.checkAllWithin(scenario.operatorLimit);
        heal(chain, {
          ...scenario,
          operators: left(scenario.operators),
          operatorLimit: OPERATOR_LIMIT,
          stubborn: null,
        });
      }
      produceBlocks();
      if (!(await isForgotten())) daemons = daemons.map((daemon) => (daemon.actor.alive ? daemon : restarted(daemon)));
      for (const daemon of daemons) if (daemon.actor.alive && !daemon.busy) tickOf(daemon);
      if (archives) await archiveSome();
      await settled();
      await calls(MAX_CALLS_PER_STEP);
      await person.finish();
      await invariants.check();
      if ((await truth.listOperators()).some(({ fence }) => fence !== 0)) lastFenced = step;
      // Nothing is left but what payers owe and nobody pays for them: then they pay.
      if (!paidUp && (await invariants.isOwedOnly())) {
        paidUp = true;
        payUp(chain, scenario);
      }
      done = await invariants.isDone();
    }
    if (violations.length > 0) return;
    if (done && archives) await archiveRest();
    // What the chain undid, or the ledger was made to forget, may have been paid twice through no fault of an operator's.
    if (done && !habits.unfaithful && !scenario.forgetful)
      violations.push(...(await watching.check(clients.delivered)));
    if (done) await invariants.checkEnd();
    else violations.push(`not everything has ended ${MAX_STEPS_TO_THE_END} steps after the last fault`);
  }

  // In the end everything but debts is in the archive.
  async function archiveRest(): Promise<void> {
    nowMs += HOUR_MS;
    await archive({ ...apiContext, ledger: truth, reached: () => {} }, { breathe: async () => {} });
    const left = await database.read.all("SELECT id FROM charges WHERE charged_to = payer AND state <> 'accrued'");
    if (left.length > 0) violations.push(`${left.length} charges are final and old and have not left`);
  }

  await goWrong();
  await comeToAnEnd();

  const totals = await truth.readTotals();
  const summary = [ticks, scheduler.crashes(), chain.reorgs(), chain.head().hash, nowMs, ...Object.values(totals)];
  return {
    seed,
    ticks,
    faultsInjected: [...faults.counts.values()].reduce((sum, count) => sum + count, 0),
    faults: Object.fromEntries([
      ...faults.counts,
      ...chain.lies(),
      ...(chargedAgain > 0 ? [[CHARGES_AGAIN, chargedAgain]] : []),
      ...(lost === null ? [] : [[KEY_LOST, 1]]),
      ...(usedBesidePeers > 0 ? [[USED_BESIDE_PEER, usedBesidePeers]] : []),
    ]),
    givenBack: watching.givenBack(),
    crashes: scheduler.crashes(),
    reorgs: chain.reorgs(),
    limitsHit: invariants.limitsHit(),
    staleEndpoints: chain.stalls(),
    reached: await situationsIn(database.read, {
      refusals: clients.refusals(),
      creditRefusals: clients.creditRefusals(),
      capturedTurns: invariants.capturedTurns(),
      resumedArchives,
      archivedRepetitions,
      aboveLimit: invariants.aboveLimit(),
    }),
    violations,
    trace: lines,
    digest: createHash("sha256").update(summary.join()).digest("hex"),
  };
}
