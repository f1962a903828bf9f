import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLedger } from "../../createLedger.ts";
import type { Lease, Ledger } from "../../ledger.ts";
import { createPostgresLedger, type Store } from "../../testing/backends.ts";
import {
  accountOf,
  HASHES,
  INSURANCE,
  inclusionAt,
  leaseOf,
  netOf,
  outcomeOf,
  POLICY,
  planned,
  RETRY,
  RICH,
  ROUTER,
  submitted,
  toolOf,
  turnOf,
  usdc,
} from "../../testing/fixtures.ts";
import { COMMIT, createInterleaving } from "../../testing/interleave.ts";
import { lockOf, misorderedIn } from "../../testing/lockOf.ts";
import { createMemoryFolder } from "../../testing/memoryFolder.ts";
import type { Database } from "../sql.ts";
import { GUARDED_BY, LOCK_ORDER } from "./lockOrder.ts";

describe("the order of locks", () => {
  it("is told from statements", () => {
    expect(lockOf("SELECT 1 FROM payers")).toBeNull();
    expect(lockOf("SELECT id FROM sessions WHERE id IN ($1) FOR UPDATE")).toMatchObject({
      row: "sessions",
      waits: true,
    });
    expect(lockOf("INSERT INTO holds (call_id) VALUES ($1)")).toMatchObject({ row: "new holds" });
    expect(() => lockOf("UPDATE elsewhere SET a = 1")).toThrow("no place");
    expect(misorderedIn(["UPDATE payers", "UPDATE sessions"])).toEqual(["sessions after payers"]);
    expect(misorderedIn(["UPDATE sessions", "UPDATE payers", "UPDATE sessions"])).toEqual([]);
    expect(misorderedIn(["UPDATE submissions"])).toEqual(["submissions without operators"]);
    expect(misorderedIn(["INSERT INTO charges", "UPDATE charges"])).toEqual(["charges without sessions"]);
  });
});

type Side = (ledger: Ledger) => Promise<unknown>;
// What two daemons do at the same time, in a ledger prepared for it. Every round has names of its own.
type Meeting = { name: string; prepare: (ledger: Ledger, round: Round) => Promise<readonly [Side, Side]> };
type Round = {
  of: (name: string) => string;
  payer: (n: number) => ReturnType<typeof accountOf>;
  lease: Lease;
  other: Lease;
};

// A round ends when the first is done before the second begins, so that the second has cut in at every place.
const MAX_ROUNDS = 60;

const call = (callId: string, sessionId: string, amount = 1) =>
  ({ callId, sessionId, toolId: toolOf(1), method: "m", amount: usdc(amount) }) as const;
const paying = (payees: readonly number[]) =>
  outcomeOf({
    paid: payees.map((n) => ({ toolId: toolOf(n), payee: accountOf(n), amount: usdc(1), developerShare: usdc(1) })),
  });

// Where all of them archive.
const folder = createMemoryFolder();

async function archiveAll(ledger: Ledger): Promise<void> {
  for (;;) {
    const number = await ledger.startArchive(1_000, 1_000);
    if (number === null) return;
    while ((await ledger.moveArchived(number)).kind === "moved");
  }
}

const meetings: Meeting[] = [
  {
    name: "a sweep and the close of what it sweeps",
    async prepare(ledger, { of, payer }) {
      const session = { payer: payer(1), maxSpend: usdc(10) };
      await ledger.openSession({ ...session, id: of("a"), expiresAtMs: 10_000 }, 0);
      await ledger.openSession({ ...session, id: of("b"), expiresAtMs: 10 }, 0);
      await ledger.hold(call(of("c"), of("a")), RICH, 0);
      return [
        (one) => one.sweepSessions(POLICY, 50, 100, 10),
        (two) => Promise.all([two.closeSession(of("a"), 100), two.closeSession(of("b"), 100)]),
      ];
    },
  },
  {
    name: "a sweep of what a clock that was ahead has held, and the close and the end of it",
    async prepare(ledger, { of, payer }) {
      for (const name of ["a", "b"]) {
        await ledger.openSession({ id: of(name), payer: payer(1), maxSpend: usdc(10), expiresAtMs: 99_000 }, 0);
        await ledger.hold(call(of(`held ${name}`), of(name)), RICH, 9_000);
        const held = { turnId: of(`turn ${name}`), payer: payer(2), amount: usdc(1), budgetId: null };
        await ledger.holdTurn(held, RICH, 9_000);
      }
      return [
        async (one) => {
          await one.sweepSessions(POLICY, 50, 100, 10);
          await one.sweepTurnHolds(50, 100, 10);
        },
        (two) =>
          Promise.all([
            two.closeSession(of("b"), 100),
            two.void(of("held b")),
            two.capture({ callId: of("held a"), hashes: HASHES }, POLICY, 100),
            two.voidTurn(of("turn b"), payer(2)),
            two.recordTurn(turnOf(of("turn a"), { payer: payer(2) }), 100),
          ]),
      ];
    },
  },
  {
    name: "what is brought forward and whoever hands it over and plans it",
    async prepare(ledger, { of, payer, lease }) {
      for (const n of [1, 2]) {
        await ledger.openSession({ id: of(`${n}`), payer: payer(n), maxSpend: usdc(10), expiresAtMs: 99_000 }, 0);
        await ledger.hold(call(of(`call ${n}`), of(`${n}`)), RICH, 50_000);
        await ledger.capture({ callId: of(`call ${n}`), hashes: HASHES }, POLICY, 50_000);
        await ledger.recordTurn(turnOf(of(`turn ${n}`), { payer: payer(n) }), 50_000);
        await ledger.recordTurn(turnOf(of(`now ${n}`), { payer: payer(n) }), 10);
      }
      return [
        (one) => one.bringForward([payer(2), payer(1)], 10_000, 100),
        async (two) => {
          await Promise.all([two.closeSession(of("2"), 100), two.closeSession(of("1"), 100)]);
          await planned(two, lease, [payer(2), payer(1)], 100);
        },
      ];
    },
  },
  {
    name: "the same turns for other payers in the opposite order",
    async prepare(_, { of, payer }) {
      const record = (ledger: Ledger, turn: string, n: number) =>
        ledger.recordTurn(turnOf(of(turn), { payer: payer(n) }), 0);
      return [
        (one) => Promise.all([record(one, "a", 1), one.nameTool(toolOf(1), "one", 0), record(one, "b", 2)]),
        (two) => Promise.all([record(two, "b", 3), two.nameTool(toolOf(2), "two", 0), record(two, "a", 4)]),
      ];
    },
  },
  {
    name: "what is held for the same questions, recorded and given back, in the opposite order",
    async prepare(ledger, { of, payer }) {
      const hold = (on: Ledger, turn: string, n: number) =>
        on.holdTurn({ turnId: of(turn), payer: payer(n), amount: usdc(1), budgetId: null }, RICH, 0);
      for (const n of [1, 2]) await hold(ledger, `old ${n}`, n);
      return [
        (one) =>
          Promise.all([
            hold(one, "a", 1),
            one.recordTurn(turnOf(of("old 1"), { payer: payer(1) }), 0),
            hold(one, "b", 2),
            one.voidTurn(of("old 2"), payer(2)),
          ]),
        (two) => Promise.all([hold(two, "b", 3), two.voidTurn(of("old 2"), payer(2)), hold(two, "a", 4)]),
      ];
    },
  },
  {
    name: "a sweep of what is held for questions and whoever records and renews them",
    async prepare(ledger, { of, payer }) {
      const hold = (on: Ledger, turn: string, n: number, nowMs: number) =>
        on.holdTurn({ turnId: of(turn), payer: payer(n), amount: usdc(1), budgetId: null }, RICH, nowMs);
      for (const n of [1, 2, 3]) await hold(ledger, `${n}`, n, 0);
      return [
        (one) => one.sweepTurnHolds(50, 100, 10),
        (two) =>
          Promise.all([
            hold(two, "3", 3, 90),
            two.recordTurn(turnOf(of("2"), { payer: payer(2) }), 90),
            hold(two, "4", 1, 90),
          ]),
      ];
    },
  },
  {
    name: "the same calls in other sessions in the opposite order",
    async prepare(ledger, { of, payer }) {
      for (const n of [1, 2]) {
        const session = { id: of(`${n}`), payer: payer(n), maxSpend: usdc(10), expiresAtMs: 100 };
        await ledger.openSession(session, 0);
      }
      const hold = (daemon: Ledger, callId: string, n: number) => daemon.hold(call(of(callId), of(`${n}`)), RICH, 1);
      return [
        (one) => Promise.all([hold(one, "a", 1), hold(one, "b", 1)]),
        (two) => Promise.all([hold(two, "b", 2), hold(two, "a", 2)]),
      ];
    },
  },
  {
    name: "a hold beside the first turn of another payer, and both payers' turns",
    async prepare(ledger, { of, payer }) {
      const [first, known] = [payer(1), payer(2)];
      await ledger.openSession({ id: of("s"), payer: known, maxSpend: usdc(10), expiresAtMs: 100 }, 0);
      return [
        (one) =>
          Promise.all([
            one.recordTurn(turnOf(of("a"), { payer: first }), 1),
            one.hold(call(of("c"), of("s")), RICH, 1),
          ]),
        (two) =>
          Promise.all([
            two.recordTurn(turnOf(of("b"), { payer: first }), 1),
            two.recordTurn(turnOf(of("d"), { payer: known }), 1),
          ]),
      ];
    },
  },
  ...[1, 1_000].map(
    (maxCount): Meeting => ({
      name: `a batch of what a session waits with, and a capture that ${maxCount === 1 ? "flushes" : "adds to"} it`,
      async prepare(ledger, { of, payer, lease }) {
        await ledger.openSession({ id: of("s"), payer: payer(1), maxSpend: usdc(10), expiresAtMs: 9_000 }, 0);
        for (const name of ["a", "b"]) await ledger.hold(call(of(name), of("s")), RICH, 0);
        await ledger.capture({ callId: of("a"), hashes: HASHES }, { ...POLICY, maxAgeMs: 10 }, 0);
        return [
          (one) => planned(one, lease, [payer(1)], 20),
          (two) => two.capture({ callId: of("b"), hashes: HASHES }, { ...POLICY, maxCount }, 20),
        ];
      },
    }),
  ),
  {
    name: "two final batches that pay the same people in the opposite order",
    async prepare(ledger, { of, payer, lease, other }) {
      const payees = [1, 2].map((n) => Number(BigInt(payer(n)) & 0xffffffffn));
      const sides = [
        [lease, 1, paying(payees)],
        [other, 2, paying(payees.toReversed())],
      ] as const;
      const batchIds: Hex[] = [];
      for (const [own, n, outcome] of sides) {
        await ledger.recordTurn(turnOf(of(`${n}`), { payer: payer(n) }), 0);
        const batchId = await submitted(ledger, own, [payer(n)], 1);
        await ledger.recordInclusion(own, batchId, inclusionAt(1n), "success", outcome);
        batchIds.push(batchId);
      }
      const [first, second] = sides.map(
        ([own, , outcome], i): Side =>
          (daemon) =>
            daemon.finalize(own, batchIds[i] ?? "0x", outcome, RETRY, 2),
      );
      return [first as Side, second as Side];
    },
  },
  {
    name: "an archive, and what it moves being delivered again",
    async prepare(ledger, { of, payer, lease }) {
      await archiveAll(ledger);
      const session = { id: of("s"), payer: payer(1), maxSpend: usdc(10), expiresAtMs: 9_000 };
      await ledger.openSession(session, 0);
      for (const name of ["a", "b"]) {
        await ledger.hold(call(of(name), of("s")), RICH, 0);
        await ledger.capture({ callId: of(name), hashes: HASHES }, POLICY, 0);
        await ledger.recordTurn(turnOf(of(name), { payer: payer(1) }), 0);
      }
      await ledger.closeSession(of("s"), 1);
      const batchId = await submitted(ledger, lease, [payer(1)], 1);
      await ledger.recordInclusion(lease, batchId, inclusionAt(1n), "success", outcomeOf());
      await ledger.finalize(lease, batchId, outcomeOf(), RETRY, 2);
      const accrued = (await ledger.readTotals()).accrued;
      return [
        archiveAll,
        async (two) => {
          const again = await Promise.all([
            two.recordTurn(turnOf(of("b"), { payer: payer(1) }), 3),
            two.recordTurn(turnOf(of("a"), { payer: payer(1) }), 3),
            two.hold(call(of("b"), of("s")), RICH, 3),
            two.hold(call(of("a"), of("s")), RICH, 3),
          ]);
          expect(again.map(({ kind }) => kind)).toEqual(["duplicate", "duplicate", "duplicate", "duplicate"]);
          expect((await ledger.readTotals()).accrued).toBe(accrued);
        },
      ];
    },
  },
  {
    name: "a final batch of what the platform has paid, and the end of the debt",
    async prepare(ledger, { of, payer, lease }) {
      await ledger.recordTurn(turnOf(of("t"), { payer: payer(1) }), 0);
      const net = netOf(() => "balance");
      const retry = { ...RETRY, maxAttempts: 1 };
      await ledger.planBatch(lease, { accounts: [payer(1)], maxCharges: 10, router: ROUTER, net, retry }, 1);
      const batchId = await submitted(ledger, lease, [INSURANCE], 2);
      await ledger.recordInclusion(lease, batchId, inclusionAt(1n), "success", outcomeOf());
      return [(one) => one.finalize(lease, batchId, outcomeOf(), RETRY, 3), (two) => two.clearDebt(payer(1))];
    },
  },
];

describe("two daemons on one PostgreSQL never wait in a circle, and count right", () => {
  let store: Store;
  let ledger: Ledger;
  let databases: readonly [Database, Database, Database];
  beforeAll(async () => {
    store = await createPostgresLedger();
    ledger = await store.open({ archive: folder });
    databases = [store.database(), store.database(), store.database()];
  });
  afterAll(async () => {
    await Promise.all(databases.map((database) => database.close()));
    await store.remove();
  });

  it.each(
    meetings.flatMap((meeting, i) => [
      [meeting.name, meeting, 2 * i, false] as const,
      [`${meeting.name}, the other way round`, meeting, 2 * i + 1, true] as const,
    ]),
  )("%s", async (_, { prepare }, i, isReversed) => {
    const lease = await leaseOf(ledger, accountOf(0xaaaa), "one");
    const other = await leaseOf(ledger, accountOf(0xbbbb), "two");
    for (let preempted = 0; preempted < MAX_ROUNDS; preempted += 1) {
      const round: Round = {
        of: (name) => `${i} ${preempted} ${name}`,
        payer: (n) => accountOf(0x10000 * (i + 1) + 0x10 * preempted + n),
        lease,
        other,
      };
      const sides = await prepare(ledger, round);
      const { circles, misordered, isOver } = await meet(databases, isReversed ? sides.toReversed() : sides, preempted);
      expect(circles, `the second cuts in after ${preempted} statements`).toBe(0);
      expect(misordered).toEqual([]);
      if (!isOver) continue;
      // Of all rounds: what was counted wrongly once stays wrong.
      expect(await ledger.audit()).toEqual([]);
      return;
    }
    expect.fail(`${MAX_ROUNDS} rounds were not enough`);
  });

  it("every table has its place in the order, or a guard", async () => {
    const rows = await databases[2].read.all("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    const places = new Set<string>([...LOCK_ORDER.map((lock) => lock.replace("new ", "")), ...Object.keys(GUARDED_BY)]);
    // Migrations are made under a lock of their own.
    expect(rows.map((row) => row.tablename).sort()).toEqual([...places, "migrations"].sort());
  });
});

// The first has some statements to itself; then the second goes as far as it can, and the first goes on.
async function meet(
  [one, two, monitor]: readonly [Database, Database, Database],
  sides: readonly Side[],
  preempted: number,
) {
  const interleaving = createInterleaving(monitor.read);
  const ended = [one, two].map((database, i) =>
    interleaving.start(`${i}`, database, async (asking) => {
      await sides[i]?.(await createLedger({ ...asking, migration: async () => {} }, { shard: i, archive: folder }));
    }),
  );
  const transactions: Record<string, string[]> = { "0": [], "1": [] };
  const misordered: string[] = [];
  let circles = 0;
  let firsts = 0;
  let isOver = false;
  for (;;) {
    const turns = await interleaving.turns();
    if (turns.length === 0 && interleaving.blocked().length === 0) break;
    // The server ends a circle after a while.
    if (turns.length === 0) {
      circles += 1;
      while ((await interleaving.turns()).length === 0 && interleaving.blocked().length > 0);
      continue;
    }
    const [first, second] = ["0", "1"].map((process) => turns.find((turn) => turn.process === process));
    const turn = (firsts < preempted ? (first ?? second) : (second ?? first)) ?? turns[0];
    if (turn === undefined) break;
    if (turn === first) firsts += 1;
    else if (firsts < preempted) isOver = true;
    const statements = transactions[turn.process] ?? [];
    statements.push(turn.text);
    if (turn.text === COMMIT) misordered.push(...misorderedIn(statements.splice(0).slice(0, -1)));
    interleaving.take(turn);
  }
  await Promise.all(ended);
  return { circles, misordered, isOver };
}
