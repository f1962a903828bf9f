import type { Hex } from "viem";
import type { Block } from "../chain.ts";

// What one endpoint says of the chain at about the same moment as the others. `finalized` is null if it does not say.
export type SeenHead = { endpoint: string; head: Block; finalized: Block | null };

export type Standing =
  | { kind: "fresh" }
  // It is behind the others. What it says was true, and is used only if nobody else answers.
  | { kind: "stale"; reason: string }
  // It says what the others rule out.
  | { kind: "contradicts"; reason: string };

export type Ranking = {
  // Whom to ask, best first.
  order: readonly string[];
  standings: ReadonlyMap<string, Standing>;
  // The newest block that every fresh endpoint calls final; or why none can be named.
  finalized: Block | { unknown: string };
  // The newest block that every fresh endpoint has, and how many they are; null if none is fresh.
  shared: { block: Block; endpoints: number } | null;
};

// Fifteen blocks of Base. Less happens between healthy nodes at any moment, and settlement can wait for as long. Behind by seconds
// alone is everybody who does not have the first block yet after the sequencer has stood still.
const MAX_LAG_MS = 30_000;
const MAX_LAG_BLOCKS = 15n;
// Five blocks of Base. For longer than this between two blocks the sequencer stands still, and not whoever does not have the second yet.
const MAX_PAUSE_MS = 10_000;
// How far ahead of this machine's clock an endpoint may be with nobody to support it: less than what makes another one stale,
// so that a liar alone cannot outrun a healthy endpoint.
const MAX_AHEAD_MS = 15_000;
// A node can follow the head while its finality stands still. On Base the two are about 20 minutes apart.
const MAX_FINALITY_LAG_MS = 60 * 60_000;

// Remembers for how long each head has stood while others went on, by what goes by and not by our clock: that tells one that stands
// still from one that moves even if that clock is wrong by minutes, or is set. While the sequencer stands still nobody goes on: how long
// that took counts for nobody once it goes on, whoever hears of it first.
export function createHeadRanking() {
  const heads = new Map<string, Seen>();
  let movedAtMs = 0;

  // In order of preference.
  return (seen: readonly SeenHead[], { nowMs, elapsedMs }: Moments, hashAt: HashAt): Promise<Ranking> => {
    const before = new Map(heads);
    const wentOn = seen.filter(({ endpoint, head }) => head.number > (before.get(endpoint)?.number ?? head.number));
    const isPassed = (number: bigint) => wentOn.some(({ head }) => head.number > number);
    const wentByMs = Math.min(elapsedMs - movedAtMs, MAX_PAUSE_MS);
    if (wentOn.length > 0) movedAtMs = elapsedMs;
    for (const { endpoint, head } of seen) {
      const last = before.get(endpoint);
      const known = last?.number === head.number ? last.passedForMs : null;
      const more = known === null ? 0 : wentByMs;
      const passedForMs = isPassed(head.number) ? (known ?? 0) + more : known;
      heads.set(endpoint, { number: head.number, passedForMs });
    }
    const standing = seen.filter(
      ({ endpoint, head }) =>
        (heads.get(endpoint)?.passedForMs ?? 0) > MAX_LAG_MS && seen.some((other) => other.head.number > head.number),
    );
    // As with those that are behind: more of them together than go on are not the ones that have stopped.
    const together = Math.max(0, ...standing.map(({ head }) => supportersOf(head, standing)));
    const standStill = together > seen.length - standing.length ? [] : standing;
    return rankHeads(seen, new Set(standStill), nowMs, hashAt);
  };
}

// `passedForMs` is how long others went on since the first of them passed it; null if none has.
type Seen = { number: bigint; passedForMs: number | null };

// What our clock says, and what goes by evenly whatever anybody sets it to.
type Moments = { nowMs: number; elapsedMs: number };

type HashAt = (endpoint: string, number: bigint) => Promise<Hex | null>;

// Decides whom to believe. An endpoint is stale if it is behind one that can be believed, and not merely behind the one that
// is farthest ahead: nothing keeps a node from inventing blocks. Among those that are fresh the order of preference stays, so
// that one block more wins nothing. `hashAt` asks an endpoint for its block at a height.
async function rankHeads(
  seen: readonly SeenHead[],
  standStill: ReadonlySet<SeenHead>,
  nowMs: number,
  hashAt: HashAt,
): Promise<Ranking> {
  const moving = seen.filter((one) => !standStill.has(one));
  const newest = newestBelievable(moving, nowMs);
  const standings = new Map(
    seen.map((one) => [one.endpoint, standingOf(one.head, newest, standStill.has(one), isOutvoted(one.head, moving))]),
  );
  const fresh = () => seen.filter(({ endpoint }) => standings.get(endpoint)?.kind === "fresh");

  const voters = seen.filter(({ endpoint }) => standings.get(endpoint)?.kind !== "contradicts");
  const leader = await findLeader(fresh(), voters, hashAt);
  for (const [endpoint, reason] of leader.rivals) standings.set(endpoint, { kind: "contradicts", reason });

  const grade = ({ endpoint }: SeenHead) => GRADES.indexOf(standings.get(endpoint)?.kind ?? "contradicts");
  const order = seen.toSorted((a, b) => grade(a) - grade(b)).map(({ endpoint }) => endpoint);
  return {
    order,
    standings,
    finalized: leader.unknown === null ? finalizedBy(fresh()) : { unknown: leader.unknown },
    shared: sharedBy(fresh()),
  };
}

const GRADES: readonly Standing["kind"][] = ["fresh", "stale", "contradicts"];

// The newest head that nobody outvotes, and that is not ahead of our clock, or that a second endpoint supports: then it is the clock
// that is slow. Whoever supports one is not behind it, so that a liar can be supported and still makes nobody stale who did that. If
// there is none, the least that anybody says.
function newestBelievable(seen: readonly SeenHead[], nowMs: number): Block | undefined {
  const heads = seen.map(({ head }) => head).sort((a, b) => b.timestampMs - a.timestampMs);
  const believable = heads.find(
    (head) => !isOutvoted(head, seen) && (head.timestampMs <= nowMs + MAX_AHEAD_MS || supportersOf(head, seen) > 1),
  );
  return believable ?? heads.at(-1);
}

// Whether more endpoints stand together behind this head than support it. Either they have stopped, or the sequencer has, and somebody
// invents its next blocks: nothing that one endpoint says tells the two apart, and what becomes final too late charges nobody twice.
const isOutvoted = (head: Block, seen: readonly SeenHead[]) =>
  seen.some((other) => isBehind(other.head, head) && supportersOf(other.head, seen) > supportersOf(head, seen));

// How many endpoints are level with it, whoever says it included.
const supportersOf = (head: Block, seen: readonly SeenHead[]) =>
  seen.filter((other) => !isBehind(other.head, head) && !isBehind(head, other.head)).length;

function standingOf(
  { number, timestampMs }: Block,
  newest: Block | undefined,
  standsStill: boolean,
  outvoted: boolean,
): Standing {
  if (standsStill) return { kind: "stale", reason: `stands still at block ${number} while others go on` };
  const behindMs = (newest?.timestampMs ?? timestampMs) - timestampMs;
  const seconds = Math.round(Math.abs(behindMs) / 1_000);
  if (behindMs < 0) {
    const ahead = outvoted
      ? "of more endpoints that agree: they have stopped, or it makes blocks up"
      : "of what can be believed";
    return { kind: "contradicts", reason: `is at block ${number}, ${seconds} s ahead ${ahead}` };
  }
  if (!isBehind({ number, timestampMs }, newest)) return { kind: "fresh" };
  return { kind: "stale", reason: `is at block ${number}, ${seconds} s behind the others` };
}

type Moment = Pick<Block, "number" | "timestampMs">;

const isBehind = (one: Moment, other: Moment = one) =>
  other.timestampMs - one.timestampMs > MAX_LAG_MS && other.number - one.number > MAX_LAG_BLOCKS;

type Leader = { unknown: string | null; rivals: ReadonlyMap<string, string> };

// The first candidate that most of the others do not contradict about a final block, with those that do. If there is none, as
// always when there are two and they differ, nobody can say what is final.
async function findLeader(
  candidates: readonly SeenHead[],
  voters: readonly SeenHead[],
  hashAt: HashAt,
): Promise<Leader> {
  const outvoted = new Map<string, string>();
  for (const candidate of candidates) {
    const others = voters.filter((voter) => voter !== candidate);
    const differences = await Promise.all(others.map((other) => differenceOf(candidate, other, hashAt)));
    const rivals = new Map(
      others.flatMap(({ endpoint }, i) => (differences[i] ? [[endpoint, differences[i]] as const] : [])),
    );
    if (rivals.size * 2 <= others.length) {
      return { unknown: null, rivals: new Map([...outvoted, ...rivals]) };
    }
    const [reason = ""] = rivals.values();
    outvoted.set(candidate.endpoint, reason);
  }
  const [reason = "no endpoint is fresh"] = outvoted.values();
  return { unknown: reason, rivals: new Map() };
}

// Compares two endpoints at the older of their final blocks, which both must have. What one of them cannot show is no
// difference: it may have been pruned.
async function differenceOf(one: SeenHead, other: SeenHead, hashAt: HashAt): Promise<string | null> {
  if (one.finalized === null || other.finalized === null) return null;
  const [lower, upper] =
    one.finalized.number <= other.finalized.number ? [one.finalized, other] : [other.finalized, one];
  const hash =
    upper.finalized?.number === lower.number ? upper.finalized.hash : await hashAt(upper.endpoint, lower.number);
  if (hash === null || hash === lower.hash) return null;
  return `differs from another endpoint in block ${lower.number}, which is final: one of them is wrong`;
}

// What all of them call final. One whose finality stands still is left out only if two others are far ahead of it: one alone
// may be calling final what is not.
function finalizedBy(fresh: readonly SeenHead[]): Ranking["finalized"] {
  const known = fresh.flatMap(({ finalized }) => finalized ?? []).sort((a, b) => Number(b.number - a.number));
  const second = known[1] ?? known[0];
  if (second === undefined) return { unknown: "the endpoints do not say which block is final" };
  return known.findLast(({ timestampMs }) => second.timestampMs - timestampMs <= MAX_FINALITY_LAG_MS) ?? second;
}

function sharedBy(fresh: readonly SeenHead[]): Ranking["shared"] {
  const [lowest] = fresh.map(({ head }) => head).sort((a, b) => Number(a.number - b.number));
  return lowest === undefined ? null : { block: lowest, endpoints: fresh.length };
}
