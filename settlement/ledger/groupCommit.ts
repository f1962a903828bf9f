import { SettlementError } from "../domain/errors.ts";
import type { Attempt } from "./sql.ts";

export type GroupCommitOptions<Tx> = {
  // Runs the work in one transaction and resolves once it is committed. May run it again.
  transaction: (work: (tx: Tx, attempt: Attempt) => Promise<void>) => Promise<void>;
  // The answer to a call that was run again after a commit of unknown outcome, given its first answer.
  answerAgain: (first: unknown, again: unknown) => unknown;
  maxGroup: number;
  maxQueue: number;
};

export type GroupCommit<Tx> = {
  submit<T>(verb: Verb<Tx, T>): Promise<T>;
  // Calls to the same verb that follow one another are handed to it together. It answers each, in their order.
  submitTo<Item, T>(verb: BulkVerb<Tx, Item, T>, item: Item): Promise<T>;
  // Resolves when everything that was submitted has been answered.
  drained(): Promise<void>;
};

export type Verb<Tx, T> = (tx: Tx) => T | Promise<T>;
export type BulkVerb<Tx, Item, T> = (tx: Tx, items: readonly Item[]) => Promise<readonly T[]>;

type Call<Tx> = {
  verb: BulkVerb<Tx, never, unknown>;
  item: unknown;
  answer: unknown;
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
};

const MAX_LOOKS = 16;

// A durable commit costs the same for one call as for a hundred. Calls that arrive while a commit is on its way wait
// for the next one and share it: they run one after another in its transaction, and each is answered only when that
// transaction is on disk.
export function createGroupCommit<Tx>(options: GroupCommitOptions<Tx>): GroupCommit<Tx> {
  const { transaction, answerAgain, maxGroup, maxQueue } = options;
  let queue: Call<Tx>[] = [];
  let running: Promise<void> | null = null;

  function submit<T>(verb: Verb<Tx, T>): Promise<T> {
    return submitTo(async (tx) => [await verb(tx)], null);
  }

  function submitTo<Item, T>(verb: BulkVerb<Tx, Item, T>, item: Item): Promise<T> {
    if (queue.length >= maxQueue) {
      return Promise.reject(
        new SettlementError("ledger_unavailable", `The ledger has ${maxQueue} calls waiting; try again later.`, {
          retryable: true,
        }),
      );
    }
    const answered = new Promise<unknown>((resolve, reject) => {
      queue.push({ verb, item, answer: undefined, resolve, reject });
    });
    running ??= run();
    return answered as Promise<T>;
  }

  async function run(): Promise<void> {
    while (queue.length > 0) {
      await gather();
      const group = queue.slice(0, maxGroup);
      queue = queue.slice(maxGroup);
      await commit(group);
    }
    running = null;
  }

  // Lets everything that is ready to run submit its call first, and requests be read between two groups: for as long as
  // each look brings more, within a bound. What waits for one more look is less than what a commit of its own costs.
  async function gather(): Promise<void> {
    for (let look = 0, waiting = -1; look < MAX_LOOKS && waiting < queue.length && queue.length < maxGroup; look++) {
      waiting = queue.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function commit(group: readonly Call<Tx>[]): Promise<void> {
    try {
      await transaction(async (tx, { mayHaveCommitted }) => {
        for (const calls of runsOf(group)) {
          const [{ verb }] = calls;
          const answers = await verb(tx, calls.map(({ item }) => item) as never[]);
          for (const [i, call] of calls.entries()) {
            call.answer = mayHaveCommitted ? answerAgain(call.answer, answers[i]) : answers[i];
          }
        }
      });
    } catch (error) {
      // Not the ledger but one of the calls is at fault: each gets a transaction of its own, so that it fails alone.
      if (group.length > 1 && !(error instanceof SettlementError)) {
        for (const call of group) await commit([call]);
        return;
      }
      for (const call of group) call.reject(error);
      return;
    }
    for (const call of group) call.resolve(call.answer);
  }

  return {
    submit,
    submitTo,
    async drained() {
      while (running !== null) await running;
    },
  };
}

// Calls to the same verb that follow one another.
function runsOf<Tx>(group: readonly Call<Tx>[]): [Call<Tx>, ...Call<Tx>[]][] {
  const runs: [Call<Tx>, ...Call<Tx>[]][] = [];
  for (const call of group) {
    const run = runs.at(-1);
    if (run?.[0].verb === call.verb) run.push(call);
    else runs.push([call]);
  }
  return runs;
}
