const PIECE = 1_000;
const MAX_PIECES = 100;

// Does something to many rows, a piece at a time so that nobody waits for long, until there is nothing left to do. What is above the
// bound waits for the next time, which comes sooner than anybody could have made as much again.
export async function inPieces(work: (limit: number) => Promise<number>): Promise<void> {
  for (let piece = 1; piece <= MAX_PIECES; piece += 1) if ((await work(PIECE)) < PIECE) return;
}
