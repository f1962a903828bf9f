import { type Change, type Cut, cutChange } from "./cutChange.ts";
import { createRenaming, isAlike } from "./renaming.ts";
import { type Token, tokenize } from "./tokenize.ts";

export type Source = {
  file: string;
  text: string;
  tokens: readonly Token[];
  // Where each text is that cannot have another name.
  fixed: ReadonlyMap<string, readonly number[]>;
};

// Where a change belongs in the code of today: `text` goes there instead of what is from `from` to `to`.
export type Place = { source: Source; from: number; to: number; text: string };

// Where only some of the lines agree, fewer names than these agree by chance.
const MIN_KEPT_NAMES = 3;

export function createSource(file: string, text: string): Source {
  let tokens: readonly Token[] | undefined;
  let fixed: ReadonlyMap<string, readonly number[]> | undefined;
  return {
    file,
    text,
    // Most files are never looked into.
    get tokens() {
      tokens ??= tokenize(text);
      return tokens;
    },
    get fixed() {
      fixed ??= placesOf(this.tokens);
      return fixed;
    },
  };
}

function placesOf(tokens: readonly Token[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [i, { kind, text }] of tokens.entries()) {
    if (kind === "name") continue;
    const known = places.get(text);
    if (known === undefined) places.set(text, [i]);
    else known.push(i);
  }
  return places;
}

// The one place in the code where the change belongs, whatever has been renamed, moved or formatted since it was written.
//
// The tokens that change must be there, up to a renaming of words that is the same throughout and gives no two words one
// name. From them agreement grows to both sides for as long as it is worth something. A place that agrees with all lines
// goes before one that agrees with some, the named file goes before the others, and then the larger agreement decides.
export function findPlace(change: Change, sources: readonly Source[]): Place {
  const cut = cutChange(change);
  const rankOf = ({ whole, source }: Candidate) => (whole ? 2 : 0) + (source.file === change.file ? 1 : 0);
  // Nothing goes before a place in the named file that agrees with all lines.
  const named = sources.filter(({ file }) => file === change.file).flatMap((source) => candidatesIn(source, cut));
  const candidates = named.some(({ whole }) => whole) ? named : sources.flatMap((source) => candidatesIn(source, cut));
  const [best, second] = candidates
    .map((candidate) => ({ ...candidate, rank: rankOf(candidate) }))
    .sort((a, b) => b.rank - a.rank || b.worth - a.worth);
  if (best === undefined)
    throw new RangeError(`the code that it changes is nowhere any more; it was in ${change.file}`);
  if (second !== undefined && second.rank === best.rank && second.worth === best.worth) {
    const places = [best, second].map(({ source, at }) => `${source.file}:${lineOf(source, at)}`);
    throw new RangeError(`the code that it changes is at ${places.join(" and at ")}; add lines that tell them apart`);
  }
  return placeOf(best, cut);
}

type Candidate = { source: Source; at: number; whole: boolean; worth: number; names: ReadonlyMap<string, string> };

function candidatesIn(source: Source, cut: Cut): Candidate[] {
  const { before } = cut;
  // With a neighbour on each side, because what is only inserted changes no token.
  const from = Math.max(0, cut.from - 1);
  const to = Math.min(before.length, cut.to + 1);
  const candidates: Candidate[] = [];
  for (const shift of shiftsIn(source, before, from, to)) {
    let i = from;
    while (i < to && isAlike(before[i], source.tokens[shift + i])) i += 1;
    if (i < to) continue;
    const candidate = agreementAt(source, shift, cut, from, to);
    if (candidate !== null) candidates.push(candidate);
  }
  return candidates;
}

// Where the lines could begin, if the rarest of the tokens that have no other name is where it should be.
function shiftsIn({ tokens, fixed }: Source, before: readonly Token[], from: number, to: number): Iterable<number> {
  const last = tokens.length - to;
  let fewest: { at: number; places: readonly number[] } | undefined;
  for (let at = from; at < to; at += 1) {
    const token = before[at];
    if (token === undefined || token.kind === "name") continue;
    const places = fixed.get(token.text) ?? [];
    if (fewest === undefined || places.length < fewest.places.length) fewest = { at, places };
  }
  if (fewest === undefined) return Array.from({ length: Math.max(0, last + from + 1) }, (_, i) => i - from);
  const { at, places } = fewest;
  return places.map((place) => place - at).filter((shift) => shift >= -from && shift <= last);
}

// How far the lines agree with the source, if their first token stands at `shift` there.
function agreementAt(
  source: Source,
  shift: number,
  { before, from: at }: Cut,
  from: number,
  to: number,
): Candidate | null {
  const names = createRenaming();
  let worth = 0;
  for (let i = from; i < to; i += 1) {
    const gain = names.compare(before[i], source.tokens[shift + i]);
    if (gain === null) return null;
    worth += gain;
  }
  names.keep();
  // Up to where it is worth most, unless it goes on to the last of the lines.
  const grow = (first: number, step: 1 | -1): boolean => {
    let sum = 0;
    let most = 0;
    for (let i = first; i >= 0 && i < before.length; i += step) {
      const gain = names.compare(before[i], source.tokens[shift + i]);
      if (gain === null) {
        names.forget();
        worth += most;
        return false;
      }
      sum += gain;
      if (sum < most) continue;
      most = sum;
      names.keep();
    }
    names.keep();
    worth += sum;
    return true;
  };
  const toEnd = grow(to, 1);
  const toBeginning = grow(from - 1, -1);
  const whole = toEnd && toBeginning;
  if (names.kept() < names.changed().size || (!whole && names.kept() < MIN_KEPT_NAMES)) return null;
  return { source, at: shift + at, whole, worth, names: names.changed() };
}

// What stands between the tokens on both sides of the change goes with it, so that the text is laid out as in the change. A
// comment there stays.
function placeOf({ source, at, names }: Candidate, cut: Cut): Place {
  const now = gapsAround(source.text, source.tokens, at, at + cut.to - cut.from);
  const then = gapsAround(cut.afterText, cut.after, cut.from, cut.toAfter);
  const text = renamed(then.between, names);
  const { from, to } = now;
  if (then.between === "") {
    return { source, from, to, text: [now.leading, now.trailing].find(hasComment) ?? then.leading };
  }
  const leading = hasComment(now.leading) && now.between !== "" ? now.leading : then.leading;
  const trailing = hasComment(now.trailing) ? now.trailing : then.trailing;
  return { source, from, to, text: `${leading}${text}${trailing}` };
}

const hasComment = (gap: string) => gap.trim() !== "";

// The text of some tokens, and the white space on both sides of it. Where there are no tokens, one gap is both.
function gapsAround(text: string, tokens: readonly Token[], first: number, end: number) {
  const from = tokens[first - 1]?.end ?? 0;
  const to = tokens[end]?.start ?? text.length;
  if (first === end) return { from, to, leading: text.slice(from, to), between: "", trailing: text.slice(from, to) };
  const start = tokens[first]?.start ?? to;
  const stop = tokens[end - 1]?.end ?? to;
  return {
    from,
    to,
    leading: text.slice(from, start),
    between: text.slice(start, stop),
    trailing: text.slice(stop, to),
  };
}

function renamed(text: string, names: ReadonlyMap<string, string>): string {
  let result = "";
  let end = 0;
  for (const token of tokenize(text)) {
    result += text.slice(end, token.start) + (names.get(token.text) ?? token.text);
    end = token.end;
  }
  return result + text.slice(end);
}

function lineOf({ text, tokens }: Source, at: number): number {
  return text.slice(0, tokens[at]?.start).split("\n").length;
}
