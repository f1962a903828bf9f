import type { accrue, accrueByCallers } from "../../accrue.ts";
import { chapter } from "../chapter.ts";
import { exact, named, table, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof accrue>> & { callers: Awaited<ReturnType<typeof accrueByCallers>> };

export const accruals = chapter<Measured>({
  name: "accrue",
  command: "accrue",
  async measure() {
    const { accrue, accrueByCallers } = await import("../../accrue.ts");
    return { ...(await accrue()), callers: await accrueByCallers() };
  },
  text: ({ callers, ...accrue }) => `## Accruals

How many delivered turns per second the ledger makes durable. 64 callers each report a turn with one tool and wait until it is on disk before they report the next. Medians of three runs.

${named([
  [
    "engineAccrualsPerSecond",
    whole(accrue.engineAccrualsPerSecond),
    "SQLite, WAL, `synchronous=FULL`, callers share commits",
  ],
  ["oneCommitPerCallPerSecond", whole(accrue.oneCommitPerCallPerSecond), "the same code with a commit for every call"],
  ["ratio", exact(accrue.ratio), "the one against the other"],
  [
    "postgresAccrualsPerSecond",
    whole(accrue.postgresAccrualsPerSecond),
    "PostgreSQL 18 on the same machine, callers share commits",
  ],
  ["ratioOfPostgres", exact(accrue.ratioOfPostgres), "that against SQLite"],
  ["bulkTurnsPerSecond", whole(accrue.bulkTurnsPerSecond), "SQLite, 4 callers who report 500 turns at a time"],
  ["ratioOfBulk", exact(accrue.ratioOfBulk), "that against one turn at a time"],
  ["p50Ms", exact(accrue.p50Ms), "how long a caller on SQLite waited, in milliseconds"],
  ["p99Ms", exact(accrue.p99Ms), "its 99th percentile"],
])}

![Accruals per second against callers at the same time, with shared commits and with a commit per call](charts/accruals-by-callers.svg)

${table(
  ["callers", "shared commits, per second", "a commit per call, per second"],
  callers.map((point) => [whole(point.callers), whole(point.sharedPerSecond), whole(point.oneCommitPerCallPerSecond)]),
)}`,
  charts: ({ callers }) => ({
    "accruals-by-callers": {
      title: "Durable accruals per second, by callers at the same time",
      description:
        "Callers that wait at the same time share a commit, so the rate grows with them; with a commit for each call it stays where the disk is.",
      x: {
        label: "callers that wait at the same time",
        scale: "step",
        values: callers.map((point) => point.callers),
      },
      y: { label: "accruals per second", scale: "linear" },
      lines: [
        { name: "shared commits", values: callers.map(({ sharedPerSecond }) => sharedPerSecond), main: true },
        {
          name: "a commit per call",
          values: callers.map(({ oneCommitPerCallPerSecond }) => oneCommitPerCallPerSecond),
        },
      ],
    },
  }),
});
