import { createHash } from "node:crypto";
import { larger } from "../../../settlement/domain/money.ts";
import { type Budget, budgetName } from "../../../settlement/domain/payer/budget.ts";
import { createLedger } from "../../../settlement/ledger/createLedger.ts";
import { openPostgres } from "../../../settlement/ledger/database/postgres/openPostgres.ts";
import type { Database, Reader } from "../../../settlement/ledger/database/sql.ts";
import { accountOf, leaseOf } from "../../../settlement/ledger/testing/fixtures.ts";
import { COMMIT, createInterleaving } from "../../../settlement/ledger/testing/interleave.ts";
import { misorderedIn } from "../../../settlement/ledger/testing/lockOf.ts";
import { createMemoryFolder } from "../../../settlement/ledger/testing/memoryFolder.ts";
import { administer } from "../../../settlement/ledger/testing/startPostgres.ts";
import { archivedBlocks } from "../checks/archivedBlocks.ts";
import { createRng, type Rng } from "../rng.ts";
import { drawDeeds, isRefusal, type Rarity } from "./daemon.ts";
import { EDGE, EDGE_FUNDS } from "./deeds/names.ts";

export type PostgresRun = {
  seed: number;
  statements: number;
  // How often a statement waited for a lock of the other daemon.
  waits: number;
  // What the run went through, of those things that are rare.
  reached: readonly Rarity[];
  violations: readonly string[];
  trace: readonly string[];
  // Equal for two runs that went the same way.
  digest: string;
};

const DAEMONS = ["one", "two"] as const;
const MAX_STATEMENTS = 20_000;
const STEP_MS = 1_000;

// Two daemons on one real PostgreSQL, a connection each. The seed decides what they do and whose statement comes next, as far
// as the server's locks permit. Nobody may ever wait in a circle, and afterwards every counter is what its rows add up to.
export async function simulatePostgres(server: string, seed: number): Promise<PostgresRun> {
  const name = `simulated_${seed}_${process.pid}`;
  await administer(server, `CREATE DATABASE ${name}`);
  // A circle that the simulator has seen need not last.
  await administer(server, `ALTER DATABASE ${name} SET deadlock_timeout = '50ms'`);
  const open = () => openPostgres({ url: `${server}/${name}`, maxConnections: 3, random: () => 0 });
  const databases = [open(), open(), open()] as const;
  try {
    return await simulateOn(databases, seed);
  } finally {
    await Promise.all(databases.map((database) => database.close()));
    await administer(server, `DROP DATABASE ${name} WITH (FORCE)`);
  }
}

async function simulateOn([one, two, monitor]: readonly [Database, Database, Database], seed: number) {
  const rng = createRng(seed);
  const folder = createMemoryFolder();
  const truth = await createLedger(monitor, { archive: folder });
  // Whoever is first says where the ledger is; nobody has a key by then.
  await truth.noteHome();
  const interleaving = createInterleaving(monitor.read);
  const violations: string[] = [];
  const trace: string[] = [];
  const answers = new Map<string, number>();
  const reached = new Set<Rarity>();
  const signed = new Map<string, bigint>();
  const kept = (budget: Budget) => {
    const name = budgetName(budget);
    signed.set(name, larger(signed.get(name) ?? 0n, budget.maxSpend));
  };
  // What each is at. It is told with its next statement: a commit that lets the other one go on has both begin something, in
  // whichever order the server answers them.
  const begun = new Map<string, string>();

  const scripts = [one, two].map((database, i) => {
    const name = DAEMONS[i] ?? "";
    const deeds = drawDeeds(createRng(rng.below(2 ** 31)), rng.between(12, 24));
    return { name, database, deeds };
  });
  const ended = scripts.map(({ name, database, deeds }, i) =>
    interleaving.start(name, database, async (asking) => {
      const ledger = await createLedger({ ...asking, migration: async () => {} }, { shard: i, archive: folder });
      const answered = (kind: string) => answers.set(kind, (answers.get(kind) ?? 0) + 1);
      for (const [n, deed] of deeds.entries()) {
        begun.set(name, deed.name);
        // A clock of its own, so that nothing depends on who was faster.
        const nowMs = () => (n + 1) * STEP_MS;
        // As an engine does in every tick: a person's command may have taken the last one away.
        const lease = await leaseOf(ledger, accountOf(0x0e + i), name);
        const broken = (what: string) => violations.push(what);
        const daemon = {
          ledger,
          lease,
          nowMs,
          answered,
          kept,
          broken,
          reached: (rarity: Rarity) => reached.add(rarity),
        };
        await deed.run(daemon).catch((error: unknown) => {
          if (!isRefusal(error)) violations.push(`${name}, ${deed.name}: ${error}`);
        });
      }
    }),
  );

  const { statements, waits } = await take(interleaving, rng, violations, trace, begun, async () => {
    violations.push(...(await edgeOf(monitor.read)));
  });
  await Promise.all(ended);

  violations.push(...(await truth.audit()), ...(await budgetsOf(monitor.read, signed)));
  const { accrued, pending, settled, absorbed, refused, voided } = await truth.readTotals();
  if (pending + settled + absorbed + refused + voided !== accrued) violations.push("the sums do not add up");
  const here = await monitor.read.all("SELECT id FROM turns");
  const gone = (await archivedBlocks(monitor.read, folder)).flatMap(({ turns }) => turns);
  const recorded = here.length + gone.length;
  if (recorded !== (answers.get("recorded") ?? 0)) {
    violations.push(`${answers.get("recorded") ?? 0} turns were said to be recorded, and there are ${recorded}`);
  }
  const summary = [...trace, ...violations, accrued, pending, settled, absorbed, refused, voided];
  const digest = createHash("sha256").update(summary.join()).digest("hex");
  return { seed, statements, waits, reached: [...reached], violations, trace, digest };
}

async function take(
  interleaving: ReturnType<typeof createInterleaving>,
  rng: Rng,
  violations: string[],
  trace: string[],
  begun: Map<string, string>,
  committed: () => Promise<void>,
) {
  let statements = 0;
  let waits = 0;
  let circles = 0;
  let hasCommitted = false;
  const transactions = new Map<string, string[]>();
  for (; statements < MAX_STATEMENTS; statements += 1) {
    const turns = await interleaving.turns();
    if (hasCommitted) await committed();
    const blocked = interleaving.blocked();
    if (turns.length === 0 && blocked.length === 0) return { statements, waits };
    if (blocked.length > 0 && turns.length > 0) waits += 1;
    if (turns.length === 0) {
      circles += 1;
      if (circles === 1) violations.push(`${blocked.join(" and ")} wait for each other`);
      await new Promise((resolve) => setTimeout(resolve, 10));
      continue;
    }
    const turn = rng.pick(turns);
    const begins = begun.get(turn.process);
    if (begins !== undefined) trace.push(`${turn.process} begins: ${begins}`);
    begun.delete(turn.process);
    trace.push(`${turn.process}: ${turn.text.replaceAll(/\s+/g, " ").slice(0, 100)}`);
    const own = transactions.get(turn.process) ?? [];
    transactions.set(turn.process, turn.text === COMMIT ? [] : [...own, turn.text]);
    hasCommitted = turn.text === COMMIT;
    if (hasCommitted) violations.push(...misorderedIn(own));
    interleaving.take(turn);
  }
  violations.push(`not everything has ended after ${MAX_STATEMENTS} statements`);
  return { statements, waits };
}

// All that a payer at the edge owes and runs, in however many sessions and questions, is what it can spend at the most.
async function edgeOf(read: Reader): Promise<string[]> {
  const [row] = await read.all("SELECT pending + held AS committed FROM payers WHERE payer = $1", [EDGE]);
  const committed = BigInt((row?.committed ?? 0n) as bigint);
  return committed > EDGE_FUNDS.amount ? [`${committed} is owed and runs of ${EDGE_FUNDS.amount}`] : [];
}

// Of every budget the highest limit that was kept counts, and no more is drawn on it than that.
async function budgetsOf(read: Reader, signed: ReadonlyMap<string, bigint>): Promise<string[]> {
  const rows = await read.all(
    "SELECT payer, id, max_spend, held + pending + taken AS drawn FROM budgets ORDER BY payer, id",
  );
  return rows.flatMap((row) => {
    const [name, limit, drawn] = [
      `${row.payer} ${row.id}`,
      BigInt(row.max_spend as bigint),
      BigInt(row.drawn as bigint),
    ];
    return [
      ...(limit === signed.get(name) ? [] : [`budget ${name} is ${limit}, and ${signed.get(name)} was kept`]),
      ...(drawn <= limit ? [] : [`${drawn} is drawn on budget ${name} of ${limit}`]),
    ];
  });
}
