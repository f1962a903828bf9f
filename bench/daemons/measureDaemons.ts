import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { openLedger } from "../../settlement/ledger/openLedger.ts";
import { turnOf, usdc } from "../../settlement/ledger/testing/fixtures.ts";
import { administer, startPostgres } from "../../settlement/ledger/testing/startPostgres.ts";
import { payerOf, type Report, SESSIONS, type Task } from "./workload.ts";

const COUNTS = [1, 2, 4] as const;
// As many however many daemons they ask, so that only the daemons differ, and enough of them for each daemon to make large groups: among few
// callers several daemons make smaller ones, which cost more.
const CALLERS = 512;
const WARM_UP_MS = 500;
const MEASURED_MS = 3_000;
const BACKLOG_TURNS = 10_000;
const MAX_CHARGES = 1_000;

// What one, two and four daemons on one PostgreSQL do together: turns of the same payers, calls in the same sessions, and
// batches from the same backlog, a key each. The ledger's part alone: no chain, no HTTP.
export async function measureDaemons() {
  const server = await startPostgres();
  try {
    const points = [];
    for (const count of COUNTS) {
      await administer(server.url, `CREATE DATABASE daemons_${count}`);
      points.push(await measure(`${server.url}/daemons_${count}`, count));
    }
    const [one, two, four] = points;
    const ratio = (key: "turnsPerSecond" | "callsPerSecond" | "settledPerSecond", point = two) =>
      Math.round((100 * (point?.[key] ?? 0)) / (one?.[key] ?? 1)) / 100;
    return {
      daemons: points,
      turnsRatioOfTwo: ratio("turnsPerSecond"),
      turnsRatioOfFour: ratio("turnsPerSecond", four),
      callsRatioOfTwo: ratio("callsPerSecond"),
      callsRatioOfFour: ratio("callsPerSecond", four),
      settledRatioOfTwo: ratio("settledPerSecond"),
      settledRatioOfFour: ratio("settledPerSecond", four),
    };
  } finally {
    await server.stop();
  }
}

async function measure(location: string, count: number) {
  const ledger = await openLedger(location);
  const expiresAtMs = Date.now() + 3_600_000;
  for (let n = 0; n < SESSIONS; n++) {
    await ledger.openSession({ id: `${n}`, payer: payerOf(n), maxSpend: usdc(10n ** 12n), expiresAtMs }, Date.now());
  }
  const daemons = Array.from({ length: count }, (_, i) =>
    fork(new URL("./daemon.ts", import.meta.url), [location, `${i}`]),
  );
  try {
    await Promise.all(daemons.map((daemon) => once(daemon, "message")));
    const rate = async (kind: "turns" | "calls") => {
      const load = { kind, callers: CALLERS / count } as const;
      await all(daemons, { ...load, measuredMs: WARM_UP_MS });
      return all(daemons, { ...load, measuredMs: MEASURED_MS });
    };
    // First, while nothing else is due.
    await Promise.all(
      Array.from({ length: BACKLOG_TURNS }, (_, n) =>
        ledger.recordTurn(turnOf(`backlog ${n}`, { payer: payerOf(n) }), Date.now()),
      ),
    );
    const settledPerSecond = await all(daemons, { kind: "settle", maxCharges: MAX_CHARGES });
    const turnsPerSecond = await rate("turns");
    const callsPerSecond = await rate("calls");
    const differences = await ledger.audit();
    if (differences.length > 0) throw new Error(`${count} daemons: ${differences.join("; ")}`);
    return { count, turnsPerSecond, callsPerSecond, settledPerSecond };
  } finally {
    for (const daemon of daemons) if (daemon.connected) daemon.disconnect();
    await Promise.all(daemons.map((daemon) => daemon.exitCode ?? once(daemon, "exit")));
    await ledger.close();
  }
}

// What all of them have done together, per second.
async function all(daemons: readonly ChildProcess[], task: Task): Promise<number> {
  const startMs = performance.now();
  const reports = await Promise.all(
    daemons.map(async (daemon) => {
      daemon.send(task);
      const [report] = (await Promise.race([
        once(daemon, "message"),
        once(daemon, "exit").then(([code]) => Promise.reject(new Error(`a daemon ended with ${code}`))),
      ])) as [Report];
      return report.done;
    }),
  );
  return Math.round((1_000 * reports.reduce((sum, done) => sum + done, 0)) / (performance.now() - startMs));
}
