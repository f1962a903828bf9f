// Room for so many at a time. Whoever comes when it is full waits for a place, first come, first served.
export type Room = {
  // Resolves with a function that gives the place back; throws the signal's reason if that comes first.
  enter(signal: AbortSignal): Promise<() => void>;
  // Whether anybody waits for a place.
  isWanted(): boolean;
};

export function createRoom(places: number): Room {
  const waiting = new Set<() => void>();
  let taken = 0;

  function leave(): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const [next] = waiting;
      if (next === undefined) taken -= 1;
      else next();
    };
  }

  return {
    async enter(signal) {
      signal.throwIfAborted();
      if (taken < places) {
        taken += 1;
        return leave();
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const begin = () => {
        waiting.delete(begin);
        resolve();
      };
      const giveUp = () => {
        if (waiting.delete(begin)) reject(signal.reason);
      };
      waiting.add(begin);
      signal.addEventListener("abort", giveUp, { once: true });
      try {
        await promise;
      } finally {
        signal.removeEventListener("abort", giveUp);
      }
      return leave();
    },
    isWanted: () => waiting.size > 0,
  };
}
