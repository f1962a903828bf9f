// How often the chain is asked again because what it said was outdated, or taken by another call, by the time it was used.
const MAX_TRIES = 5;

// What an attempt came to, or since which block the chain must have been asked for the next one.
export type Attempted<T> = { answer: T } | { outdatedSince: bigint };

// Tries with what the chain says, and again with what it says later for as long as that was outdated: each time with the block since
// which it must have been asked, null at first. Null if it never came to anything.
export async function whileOutdated<T>(attempt: (since: bigint | null) => Promise<Attempted<T>>): Promise<T | null> {
  let since: bigint | null = null;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const attempted: Attempted<T> = await attempt(since);
    if ("answer" in attempted) return attempted.answer;
    since = attempted.outdatedSince;
  }
  return null;
}
