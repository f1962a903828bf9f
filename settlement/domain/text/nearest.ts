// Names may come from strangers, as many and as long as they are let, and time grows with the square of their length.
const MAX_COMPARED = 200;
const MAX_LETTERS = 64;

// Which of some names was probably meant: the one that takes the fewest letters to change. Of very many, or very long ones, only the
// beginning is looked at. None was unless more than a third of the letters stay.
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const asked = name.slice(0, MAX_LETTERS);
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known.slice(0, MAX_COMPARED)) {
    const letters = distance(asked, candidate.slice(0, MAX_LETTERS));
    if (letters < least) [nearest, least] = [candidate, letters];
  }
  const longest = Math.max(asked.length, Math.min(nearest?.length ?? 0, MAX_LETTERS));
  return 3 * least < 2 * longest ? nearest : undefined;
}

// As the end of a sentence that says that there is no such name.
export function suggestionOf(name: string, known: readonly string[]): string {
  const nearest = nearestOf(name, known);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

// Levenshtein's: how many letters are added, left out or exchanged on the way from one to the other.
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const exchanged = (row[j] ?? 0) + (letter === to[j] ? 0 : 1);
      next.push(Math.min(exchanged, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
