import { SettlementError } from "../../../domain/errors.ts";
import type { Attempt } from "../sql.ts";
import { compareTouches, type Lock, type Touches } from "./lockOrder.ts";

export type GroupCommitOptions<Tx> = {
  // Runs the work in one transaction and resolves once it is committed. May run it again.
  transaction: (work: (tx: Tx, attempt: Attempt) => Promise<void>, lane: number) => Promise<void>;
  // How many transactions may be on their way at a time. Each has a lane of its own.
  lanes?: number;
  // Locks what the calls of a group will change, each kind of row before the first call that needs it.
  locks: (tx: Tx, touched: readonly Touches[]) => (lock: Lock) => Promise<void>;
  maxGroup: number;
  maxQueue: number;
};

export type GroupCommit<Tx> = {
  submit<T>(work: (tx: Tx) => T | Promise<T>, kinds?: Kinds): Promise<T>;
  // Calls to the same verb that follow one another are handed to it together. It answers each, in their order.
  submitTo<Item, T>(verb: BulkVerb<Tx, Item, T>, item: Item, kinds?: Kinds): Promise<T>;
  // Resolves when everything that was submitted has been answered.
  drained(): Promise<void>;
};

// How a call answers that has changed something, how one that finds this done before, and which rows it changes. A call may be of many
// things, which it answers one by one: then `size` is how many.
export type Kinds = { done: unknown; again: unknown; touches?: Touches | undefined; size?: number };

export type BulkVerb<Tx, Item, T> = (tx: Tx, items: readonly Item[]) => Promise<readonly T[]>;

type Call<Tx> = {
  verb: BulkVerb<Tx, never, unknown>;
  item: unknown;
  kinds: Kinds | undefined;
  answer: unknown;
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
};

const MAX_LOOKS = 16;
// A group of fewer is not worth a commit of its own while another could have taken them along.
const MIN_SHARE = 16;

// A durable commit costs the same for one call as for a hundred. Calls that arrive while a commit is on its way wait
// for the next one and share it: they run one after another in its transaction, in the order of their locks, and each is
// answered only when that transaction is on disk.
export function createGroupCommit<Tx>(options: GroupCommitOptions<Tx>): GroupCommit<Tx> {
  const { transaction, locks, maxGroup, maxQueue, lanes = 1 } = options;
  let queue: Call<Tx>[] = [];
  let waiting = 0;
  const running = Array<Promise<void> | null>(lanes).fill(null);
  let isGathering = false;

  function submit<T>(work: (tx: Tx) => T | Promise<T>, kinds?: Kinds): Promise<T> {
    return submitTo(async (tx) => [await work(tx)], null, kinds);
  }

  function submitTo<Item, T>(verb: BulkVerb<Tx, Item, T>, item: Item, kinds?: Kinds): Promise<T> {
    if (waiting >= maxQueue) {
      return Promise.reject(
        new SettlementError("ledger_unavailable", `the ledger has ${maxQueue} calls waiting; try again later`, {
          retryable: true,
        }),
      );
    }
    const answered = new Promise<unknown>((resolve, reject) => {
      queue.push({ verb, item, kinds, answer: undefined, resolve, reject });
    });
    waiting += kinds?.size ?? 1;
    wake();
    return answered as Promise<T>;
  }

  // One lane gathers at a time; when it has its group, the next one gathers what is left.
  function wake(): void {
    const lane = running.indexOf(null);
    if (lane >= 0 && !isGathering && queue.length > 0) running[lane] = run(lane);
  }

  async function run(lane: number): Promise<void> {
    while (queue.length > 0 && !isGathering) {
      isGathering = true;
      await gather();
      const group = takeShare();
      isGathering = false;
      wake();
      await commit(group, lane);
    }
    running[lane] = null;
  }

  // What waits is divided among the lanes that are free, so that one group is on its way while the next one is made.
  function takeShare(): Call<Tx>[] {
    const free = 1 + running.filter((lane) => lane === null).length;
    const share = Math.min(maxGroup, Math.max(MIN_SHARE, Math.ceil(waiting / free)));
    let [calls, size] = [0, 0];
    for (const { kinds } of queue) {
      const own = kinds?.size ?? 1;
      // One that is larger than that by itself has a group of its own.
      if (calls > 0 && size + own > share) break;
      calls += 1;
      size += own;
    }
    const group = queue.slice(0, calls);
    queue = queue.slice(calls);
    waiting -= size;
    return group;
  }

  // Lets everything that is ready to run submit its call first, and requests be read between two groups: for as long as
  // each look brings more, within a bound. What waits for one more look is less than what a commit of its own costs.
  async function gather(): Promise<void> {
    for (let look = 0, before = -1; look < MAX_LOOKS && before < waiting && waiting < maxGroup; look++) {
      before = waiting;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function commit(group: readonly Call<Tx>[], lane: number): Promise<void> {
    try {
      await transaction(async (tx, { mayHaveCommitted }) => {
        const lockUpTo = locks(
          tx,
          group.flatMap(({ kinds }) => kinds?.touches ?? []),
        );
        for (const calls of runsOf(inLockOrder(group))) {
          const [{ verb, kinds }] = calls;
          if (kinds?.touches !== undefined) await lockUpTo(kinds.touches.lock);
          const answers = await verb(tx, calls.map(({ item }) => item) as never[]);
          for (const [i, call] of calls.entries()) {
            call.answer = mayHaveCommitted ? answerAgain(call, answers[i]) : answers[i];
          }
        }
      }, lane);
    } catch (error) {
      // Not the ledger but one of the calls is at fault. It is looked for by halves, and fails alone.
      if (group.length > 1 && !(error instanceof SettlementError)) {
        const half = Math.ceil(group.length / 2);
        await commit(group.slice(0, half), lane);
        await commit(group.slice(half), lane);
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
      while (running.some((lane) => lane !== null)) await Promise.all(running);
    },
  };
}

// Nobody was answered yet, so that the calls of a group have no order of their own.
function inLockOrder<Tx>(group: readonly Call<Tx>[]): Call<Tx>[] {
  return group.toSorted(({ kinds: a }, { kinds: b }) =>
    a?.touches === undefined || b?.touches === undefined ? 0 : compareTouches(a.touches, b.touches),
  );
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

// A call that finds its own first try done has done it, and says so.
function answerAgain({ answer: first, kinds }: Pick<Call<never>, "answer" | "kinds">, again: unknown): unknown {
  if (Array.isArray(first) && Array.isArray(again)) {
    return again.map((one, i) => answerAgain({ answer: first[i], kinds }, one));
  }
  return kinds !== undefined && kindOf(first) === kinds.done && kindOf(again) === kinds.again ? first : again;
}

function kindOf(answer: unknown): unknown {
  return typeof answer === "object" && answer !== null && "kind" in answer ? answer.kind : undefined;
}
