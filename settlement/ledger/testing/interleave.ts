import { count } from "../database/decode.ts";
import type { Database, Reader, Sql } from "../database/sql.ts";

// A transaction that asks whether its next statement may run.
export type Turn = { process: string; text: string };

type Process = {
  name: string;
  // The server process of its transaction, while a statement of it runs.
  pid: number | null;
  // What it waits for permission to do.
  next: { text: string; go: () => void } | null;
  ended: boolean;
};

export type Interleaving = ReturnType<typeof createInterleaving>;

// What a transaction asks for at its end.
export const COMMIT = "COMMIT";

// Processes on one PostgreSQL whose statements run one at a time, in an order that the caller chooses. A statement has had its
// turn when it is answered or when it waits for a lock that another process holds, which the server is asked about: so the
// same choices lead to the same order, however fast the machine is. Each process does one thing at a time.
export function createInterleaving(monitor: Reader) {
  const processes: Process[] = [];

  async function isBlocked(pid: number): Promise<boolean> {
    const [row] = await monitor.all("SELECT CAST(cardinality(pg_blocking_pids($1)) AS INTEGER) AS blockers", [pid]);
    return row !== undefined && count(row, "blockers") > 0;
  }

  // Whether it has come to a point from which only a turn, or somebody else's, takes it on.
  async function rests({ ended, next, pid }: Process): Promise<boolean> {
    return ended || next !== null || (pid !== null && (await isBlocked(pid)));
  }

  // Twice in a row, because while the last one was looked at an earlier one may have gone on.
  async function settled(): Promise<void> {
    for (let calm = 0; calm < 2; ) {
      const resting = await Promise.all(processes.map(rests));
      calm = resting.every(Boolean) ? calm + 1 : 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return {
    // Starts what a process does, on a database whose transactions ask for each statement.
    start(name: string, database: Database, script: (database: Database) => Promise<void>): Promise<void> {
      const process: Process = { name, pid: null, next: null, ended: false };
      processes.push(process);
      return script(asking(database, process)).finally(() => {
        process.ended = true;
      });
    },
    // Whose turn it can be, once nothing goes on by itself any more.
    async turns(): Promise<Turn[]> {
      await settled();
      return processes.flatMap(({ name, next }) => (next === null ? [] : [{ process: name, text: next.text }]));
    },
    take({ process }: Turn): void {
      const taken = processes.find(({ name }) => name === process);
      const next = taken?.next;
      if (taken === undefined || next === undefined || next === null)
        throw new RangeError(`${process} asks for nothing`);
      taken.next = null;
      next.go();
    },
    // Those that have neither ended nor ask for a turn: they wait for a lock.
    blocked: () => processes.filter(({ ended, next }) => !ended && next === null).map(({ name }) => name),
  };
}

function asking(database: Database, process: Process): Database {
  const permission = (text: string) =>
    new Promise<void>((go) => {
      process.next = { text, go };
    });
  return {
    ...database,
    transaction: (work, options) =>
      database.transaction(async (sql, attempt) => {
        const [row] = await sql.all("SELECT pg_backend_pid() AS pid");
        const pid = count(row ?? {}, "pid");
        // What is sent without waiting has its turn after what was sent before it.
        let last: Promise<unknown> = Promise.resolve();
        const inTurn = <T>(text: string, run: () => T | Promise<T>): Promise<T> => {
          const answer = last.then(async () => {
            await permission(text);
            process.pid = pid;
            try {
              return await run();
            } finally {
              process.pid = null;
            }
          });
          last = answer.catch(() => undefined);
          return answer;
        };
        const asked: Sql = {
          ...sql,
          all: (text, params) => inTurn(text, () => sql.all(text, params)),
          each: (text, params, read) => inTurn(text, () => sql.each(text, params, read)),
          run: (text, params) => inTurn(text, () => sql.run(text, params)),
          send: (text, params) => void inTurn(text, () => sql.run(text, params)).catch(() => undefined),
        };
        const result = await work(asked, attempt);
        await last;
        await permission(COMMIT);
        return result;
      }, options),
  };
}
