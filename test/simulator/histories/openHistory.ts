import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "viem";
import type { Chain } from "../../../settlement/chain/chain.ts";
import { SettlementError } from "../../../settlement/domain/errors.ts";
import { microUsdc } from "../../../settlement/domain/money.ts";
import type { EngineContext, EngineEvent, Failpoint, Policy } from "../../../settlement/engine/context.ts";
import { createEngine } from "../../../settlement/engine/createEngine.ts";
import type { ReconcileOptions } from "../../../settlement/engine/watch/reconcile.ts";
import { createLedger } from "../../../settlement/ledger/createLedger.ts";
import { DISKLESS } from "../../../settlement/ledger/testing/diskless.ts";
import { createMemoryFolder } from "../../../settlement/ledger/testing/memoryFolder.ts";
import { withClock } from "../../../settlement/ledger/testing/withClock.ts";
import { withHome } from "../../../settlement/ledger/testing/withHome.ts";
import { createSimulatedChain } from "../chain/simulatedChain.ts";
import { createSimulatedSigner } from "../chain/transaction.ts";
import { setLimit } from "../faults/disturb.ts";
import { createFaults } from "../faults/faults.ts";
import { openRestorable } from "../faults/restorableDatabase.ts";
import { createRng } from "../rng.ts";
import { fundsOf, hexOf, INSURANCE, OPERATOR_LIMIT, policyOf, protocolOf, scenarioOf } from "../scenario.ts";

const START_MS = 1_800_000_000_000;
const BLOCK_MS = 2_000;
const MAX_STEPS = 80;

export type History = Awaited<ReturnType<typeof openHistory>>;

type DaemonOptions = {
  keys?: readonly Address[];
  name?: string;
  // Where its tick ends, as if it had been killed there.
  diesAt?: Failpoint;
  // What its endpoints say otherwise than the chain is.
  lies?: Partial<Chain>;
  clockOffsetMs?: number | (() => number);
};

// A history that is written by hand: the real engine and ledger on the simulator's chain, where nothing happens but what is told.
// What was delivered to each payer is remembered, and at the end everybody must have paid for it once.
export async function openHistory(options: { operators?: number; moves?: boolean; policy?: Partial<Policy> } = {}) {
  const folder = mkdtempSync(join(DISKLESS, "history-"));
  const { database: files, copy, restore } = openRestorable(folder);
  let nowMs = START_MS;
  // A snapshot of a whole disk leaves a ledger where it was.
  const database = withClock(options.moves === false ? withHome(files, () => "here") : files, { nowMs: () => nowMs });
  const rng = createRng(1);
  const quiet = createFaults(createRng(1), () => {}, false);
  const scenario = {
    ...scenarioOf(rng, createRng(2)),
    operators: OPERATORS.slice(0, options.operators ?? 1),
    payers: PAYERS,
    operatorLimit: OPERATOR_LIMIT,
    kindPayers: true,
    tight: false,
    capped: false,
    consenting: [],
    endpoints: 1,
    finalityBlocks: 12,
    maxRows: 5,
  };
  const policy: Policy = {
    ...policyOf(rng),
    bounds: { maxRows: 5, maxLines: 12, maxCharges: 16 },
    batch: { minCharges: 1, maxWaitMs: 0 },
    maxInFlight: 3,
    maxFinalPerTick: 10,
    payoutEveryMs: Number.MAX_SAFE_INTEGER,
    credit: { base: microUsdc(10n ** 12n), growthBps: 0, max: microUsdc(10n ** 12n) },
    ...options.policy,
  };
  const chain = createSimulatedChain(rng, quiet, {
    protocol: protocolOf(rng, scenario),
    insurance: INSURANCE,
    funds: fundsOf(scenario),
    maxRows: scenario.maxRows,
    endpoints: 1,
    lies: null,
    startAt: START_MS / 1000,
    finalityBlocks: scenario.finalityBlocks,
  });
  const ledger = await createLedger(database, { archive: createMemoryFolder() });
  const events: EngineEvent[] = [];
  const said: string[] = [];
  const delivered = new Map<Address, bigint>();
  const begun = new Map(PAYERS.map((payer) => [payer, balanceOf(payer)]));
  let names = 0;

  function balanceOf(payer: Address): bigint {
    const { balances, prepaid } = chain.head().state.protocol;
    return (balances.get(payer) ?? 0n) + (prepaid.get(payer)?.balance ?? 0n);
  }

  function contextOf({ keys = scenario.operators, name = "daemon", diesAt, lies, clockOffsetMs = 0 }: DaemonOptions) {
    const offsetMs = typeof clockOffsetMs === "number" ? () => clockOffsetMs : clockOffsetMs;
    const clock = { nowMs: () => nowMs + offsetMs(), elapsedMs: () => nowMs - START_MS };
    const context: Omit<EngineContext, "looking"> = {
      ledger,
      chain: { ...chain.connect(clock), ...lies },
      signers: keys.map(createSimulatedSigner),
      clock,
      random: rng.next,
      fromBlock: 0n,
      holder: name,
      policy,
      report: (event) => events.push(event),
      reached(failpoint) {
        if (failpoint !== diesAt) return;
        throw new SettlementError("ledger_unavailable", `it died at ${failpoint}`, { retryable: true });
      },
    };
    return context;
  }

  const engineOf = (daemon: DaemonOptions) =>
    createEngine(contextOf(daemon), async (payer) => {
      const [spendable] = await chain.connectHonestly(() => nowMs).spendable([payer]);
      if (spendable === undefined) throw new RangeError(`the chain left out ${payer}`);
      return spendable;
    });
  let frontOffsetMs = 0;
  const front: DaemonOptions = { name: "clients", keys: [], clockOffsetMs: () => frontOffsetMs };
  let clients = engineOf(front);
  await clients.followClock();

  function mine(blocks = 1): void {
    for (let i = 0; i < blocks; i++) {
      nowMs += BLOCK_MS;
      chain.produce(Math.floor(nowMs / 1000));
    }
  }

  // Ticks and blocks until nothing is pending and nothing is on its way, or it is clear that this does not come.
  async function settle(daemons: readonly { tick(): Promise<void> }[]): Promise<boolean> {
    for (let step = 0; step < MAX_STEPS; step++) {
      for (const daemon of daemons) await daemon.tick();
      mine(2);
      if (await isSettled()) return true;
    }
    return false;
  }

  async function isSettled(): Promise<boolean> {
    const open = await Promise.all(scenario.operators.map((operator) => ledger.listOpenSubmissions(operator, 1)));
    return (await ledger.readTotals()).pending === 0n && open.every(({ length }) => length === 0);
  }

  return {
    chain,
    ledger,
    events,
    said,
    operators: scenario.operators,
    payers: PAYERS,
    mine,
    settle,
    daemon: (daemon: DaemonOptions = {}) => engineOf(daemon),
    letHoursPass(hours: number) {
      nowMs += hours * 3_600_000;
    },
    // That of the process that takes what is delivered.
    setClockAhead(ms: number): void {
      frontOffsetMs = ms;
    },
    // A turn of one payer, of its model's cost alone.
    async deliver(payer: Address, amount: bigint): Promise<void> {
      names += 1;
      delivered.set(payer, (delivered.get(payer) ?? 0n) + amount);
      const hash = hexOf(names);
      const content = { modelCost: microUsdc(amount), tools: [], requestHash: hash, responseHash: hash };
      const answer = await clients.recordTurn({ id: `turn ${names}`, payer, outcome: "delivered", ...content });
      if (answer.kind !== "recorded") throw new RangeError(`a turn was ${answer.kind}`);
    },
    // What the ledger forgets is never reported again, and nobody need pay for it.
    forgiven(payer: Address, amount: bigint): void {
      delivered.set(payer, (delivered.get(payer) ?? 0n) - amount);
    },
    copy,
    async restore(from: ReturnType<typeof copy>): Promise<void> {
      await restore(from);
      clients = engineOf(front);
      await clients.followClock();
    },
    // A person's command, from a process with these keys.
    reconcile: (flags: Omit<ReconcileOptions, "batches">, keys?: readonly Address[]) =>
      engineOf({ name: "a person", ...(keys !== undefined && { keys }) }).reconcile({
        batches: 1_000,
        say: (line) => said.push(line),
        ...flags,
      }),
    setLimit(operator: Address, limit: bigint): void {
      chain.do("an operator's limit changes", ({ protocol }) => setLimit(protocol, operator, limit));
    },
    // What each payer has paid by the head, beyond what was delivered to it.
    overpaid: () =>
      PAYERS.map((payer) => (begun.get(payer) ?? 0n) - balanceOf(payer) - (delivered.get(payer) ?? 0n)).filter(
        (amount) => amount !== 0n,
      ),
    async close(): Promise<void> {
      await files.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const accountOf = (name: string, n: number): Address => `0x${name}${n.toString(16).padStart(40 - name.length, "0")}`;
const OPERATORS = [1, 2, 3].map((n) => accountOf("0e", n));
const PAYERS = [1, 2, 3].map((n) => accountOf("aa", n));
