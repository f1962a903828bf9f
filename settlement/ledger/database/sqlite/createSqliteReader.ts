import { Worker } from "node:worker_threads";
import { SettlementError } from "../../../domain/errors.ts";
import type { Row } from "../sql.ts";
import type { Answered, Asked, ReaderData } from "./sqliteReader.ts";

export type SqliteReader = {
  ask(asked: WithoutId<Exclude<Asked, { kind: "more" }>>): Promise<Row[]>;
  close(): Promise<void>;
};

type WithoutId<T> = T extends { id: number } ? Omit<T, "id"> : never;
type Waiting = { rows: Row[]; resolve: (rows: Row[]) => void; reject: (error: unknown) => void };

// What the thread answers with when SQLite has failed; it has SQLite's code, like an error of this thread's own connections.
export class SqliteError extends Error {
  readonly errcode: number | null;
  constructor(message: string, errcode: number | null) {
    super(message);
    this.errcode = errcode;
  }
}

// The thread in which a connection of its own reads. It is started by the first question, and keeps no process alive by itself.
export function createSqliteReader(data: ReaderData): SqliteReader {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let asked = 0;

  function fail(error: unknown): void {
    worker = null;
    const reason = error instanceof Error ? error.message : String(error);
    const gone = new SettlementError("ledger_unavailable", `the ledger cannot be read: ${reason}`, { retryable: true });
    for (const { reject } of waiting.values()) reject(gone);
    waiting.clear();
  }

  function start(): Worker {
    const started = new Worker(new URL("./sqliteReader.ts", import.meta.url), { workerData: data });
    started.on("message", (answered: Answered) => {
      const who = waiting.get(answered.id);
      if ("rows" in answered) for (const row of answered.rows) who?.rows.push(row);
      if ("rows" in answered && answered.more) {
        started.postMessage({ kind: "more", id: answered.id } satisfies Asked);
        return;
      }
      waiting.delete(answered.id);
      if (waiting.size === 0) started.unref();
      if ("rows" in answered) who?.resolve(who.rows);
      else who?.reject(new SqliteError(answered.error, answered.code));
    });
    started.on("error", fail);
    started.on("exit", () => {
      if (worker === started) fail("its thread has ended");
    });
    return started;
  }

  return {
    ask(question) {
      worker ??= start();
      worker.ref();
      asked += 1;
      const id = asked;
      const answered = new Promise<Row[]>((resolve, reject) => waiting.set(id, { rows: [], resolve, reject }));
      worker.postMessage({ ...question, id });
      return answered;
    },
    async close() {
      const running = worker;
      worker = null;
      await running?.terminate();
      fail("the ledger is closed");
    },
  };
}
