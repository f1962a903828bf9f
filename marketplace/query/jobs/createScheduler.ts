// Runs work with a bound on how much runs at once, the same share for everybody: next is whoever waits and has the least
// running, so that one account's hundred questions do not keep another's one waiting.
export type Scheduler = {
  // `isFree`: nobody pays for it, and it leaves some places to those who do. Accounts cost nothing.
  add(owner: string, work: () => Promise<void>, options?: { isFree: boolean }): void;
  // Resolves when nothing runs or waits.
  idle(): Promise<void>;
  // From now on nothing that waits is begun.
  close(): void;
};

export function createScheduler(maxRunning: number, maxPerOwner: number, maxFree = maxRunning): Scheduler {
  const waiting: { owner: string; isFree: boolean; work: () => Promise<void> }[] = [];
  const running = new Map<string, number>();
  const idlers: (() => void)[] = [];
  let count = 0;
  let free = 0;
  let isClosed = false;

  function pump(): void {
    while (!isClosed && count < maxRunning) {
      const next = nextOf();
      if (next === -1) break;
      const [{ owner, isFree, work } = NOTHING] = waiting.splice(next, 1);
      count += 1;
      if (isFree) free += 1;
      running.set(owner, (running.get(owner) ?? 0) + 1);
      void work().finally(() => {
        count -= 1;
        if (isFree) free -= 1;
        const left = (running.get(owner) ?? 1) - 1;
        if (left === 0) running.delete(owner);
        else running.set(owner, left);
        pump();
      });
    }
    if (count === 0 && (isClosed || waiting.length === 0)) for (const idle of idlers.splice(0)) idle();
  }

  function nextOf(): number {
    let best = -1;
    let least = maxPerOwner;
    for (const [i, { owner, isFree }] of waiting.entries()) {
      if (isFree && free >= maxFree) continue;
      const has = running.get(owner) ?? 0;
      if (has < least) [best, least] = [i, has];
      if (least === 0) break;
    }
    return best;
  }

  return {
    add(owner, work, { isFree } = { isFree: false }) {
      waiting.push({ owner, isFree, work });
      pump();
    },
    idle: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      idlers.push(resolve);
      pump();
      return promise;
    },
    close() {
      isClosed = true;
      pump();
    },
  };
}

const NOTHING = { owner: "", isFree: false, work: async () => undefined };
