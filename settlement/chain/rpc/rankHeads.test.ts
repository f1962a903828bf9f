import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import { createHeadRanking, type SeenHead } from "./rankHeads.ts";

const NOW_MS = 1_800_000_000_000;
const BLOCK_MS = 2_000;
const NEWEST = 10_000n;
const FINALITY_BLOCKS = 600n;

const hashOf = (number: bigint, fork = 0): Hex => `0x${(number * 10n + BigInt(fork)).toString(16).padStart(64, "0")}`;
const blockAt = (number: bigint, fork = 0) => ({
  number,
  hash: hashOf(number, fork),
  timestampMs: NOW_MS - Number(NEWEST - number) * BLOCK_MS,
});

// A node that has everything up to a block, of the chain or of a fork of its own.
type Node = { head: bigint; finalized?: bigint; fork?: number };

// One that nobody sets.
const clockAt = (nowMs: number) => ({ nowMs, elapsedMs: nowMs });

function rank(nodes: Record<string, Node>, nowMs = NOW_MS, ranking = createHeadRanking()) {
  const seen: SeenHead[] = Object.entries(nodes).map(([endpoint, { head, finalized, fork }]) => ({
    endpoint,
    head: blockAt(head, fork),
    finalized: blockAt(finalized ?? head - FINALITY_BLOCKS, fork),
  }));
  return ranking(seen, clockAt(nowMs), async (endpoint, number) => {
    const node = nodes[endpoint];
    return node !== undefined && number <= node.head ? hashOf(number, node.fork) : null;
  });
}

const kindsOf = ({ standings }: Awaited<ReturnType<typeof rank>>) => [...standings.values()].map(({ kind }) => kind);

describe("of several endpoints", () => {
  it("the order of preference stays while all are level, whoever has a block more", async () => {
    const ranking = await rank({ a: { head: NEWEST - 3n }, b: { head: NEWEST } });
    expect(ranking.order).toEqual(["a", "b"]);
    expect(kindsOf(ranking)).toEqual(["fresh", "fresh"]);
  });

  it("the newest block that all of them have is the oldest head of those that are fresh", async () => {
    const nodes = { a: { head: NEWEST }, b: { head: NEWEST - 3n }, c: { head: NEWEST - 1_000n } };
    expect((await rank(nodes)).shared).toEqual({ block: blockAt(NEWEST - 3n), endpoints: 2 });
  });

  it("one that stands still comes last, and has no say in what is final", async () => {
    const ranking = await rank({ a: { head: NEWEST - 1_000n }, b: { head: NEWEST } });
    expect(ranking.order).toEqual(["b", "a"]);
    expect(ranking.standings.get("a")).toEqual({
      kind: "stale",
      reason: `is at block ${NEWEST - 1_000n}, 2000 s behind the others`,
    });
    expect(ranking.finalized).toEqual(blockAt(NEWEST - FINALITY_BLOCKS));
  });

  it("none is stale when the chain itself stands still", async () => {
    const ranking = await rank({ a: { head: NEWEST }, b: { head: NEWEST } }, NOW_MS + 3_600_000);
    expect(kindsOf(ranking)).toEqual(["fresh", "fresh"]);
  });

  it("one that invents blocks ahead of the clock wins nothing alone", async () => {
    const ranking = await rank({ a: { head: NEWEST + 1_000n }, b: { head: NEWEST } });
    expect(ranking.order).toEqual(["b", "a"]);
    expect(kindsOf(ranking)).toEqual(["contradicts", "fresh"]);
    expect(ranking.finalized).toEqual(blockAt(NEWEST - FINALITY_BLOCKS));
  });

  it("one that invents as much as the clock allows makes no healthy one stale", async () => {
    const ranking = await rank({ a: { head: NEWEST }, b: { head: NEWEST + 7n } });
    expect(ranking.order).toEqual(["a", "b"]);
    expect(kindsOf(ranking)).toEqual(["fresh", "fresh"]);
  });

  it("two that agree are believed before a clock that is slow", async () => {
    const ranking = await rank(
      { a: { head: NEWEST }, b: { head: NEWEST }, c: { head: NEWEST - 1_000n } },
      NOW_MS - 600_000,
    );
    expect(kindsOf(ranking)).toEqual(["fresh", "fresh", "stale"]);
  });

  it("one that stands still while another goes on is told apart by a clock that is minutes slow, too", async () => {
    const slowMs = NOW_MS - 600_000;
    const ranking = createHeadRanking();
    await rank({ a: { head: NEWEST }, b: { head: NEWEST } }, slowMs, ranking);
    for (let seconds = 2; seconds <= 120; seconds += 2) {
      const head = NEWEST + BigInt(seconds / 2);
      const { order } = await rank({ a: { head: NEWEST }, b: { head } }, slowMs + seconds * 1_000, ranking);
      // It was passed after two seconds.
      expect([seconds, order[0]]).toEqual([seconds, seconds > 32 ? "b" : "a"]);
    }
  });

  it("none is stale when the sequencer goes on, for not having its first block yet", async () => {
    const stalledMs = 90_000;
    const resumed = (number: bigint) => ({ ...blockAt(number), timestampMs: NOW_MS + stalledMs });
    const final = { a: NEWEST - FINALITY_BLOCKS, b: NEWEST };
    const ranking = createHeadRanking();
    const seenAt = (a: bigint, b: bigint): SeenHead[] => [
      { endpoint: "a", head: a > NEWEST ? resumed(a) : blockAt(a), finalized: blockAt(final.a) },
      { endpoint: "b", head: b > NEWEST ? resumed(b) : blockAt(b), finalized: blockAt(final.b) },
    ];
    const hashAt = async (_: string, number: bigint) => hashOf(number);
    for (let ms = 0; ms < stalledMs; ms += 2_000) {
      await ranking(seenAt(NEWEST - 3n, NEWEST), clockAt(NOW_MS + ms), hashAt);
    }
    // What one alone calls final does not become so by that.
    const found = await ranking(seenAt(NEWEST - 3n, NEWEST + 1n), clockAt(NOW_MS + stalledMs), hashAt);
    expect(kindsOf(found)).toEqual(["fresh", "fresh"]);
    expect(found.finalized).toEqual(blockAt(final.a));
    // A process that begins at this moment remembers nothing, and its clock may be slow.
    for (const slowMs of [0, 40_000]) {
      const first = await createHeadRanking()(
        seenAt(NEWEST - 3n, NEWEST + 1n),
        clockAt(NOW_MS + stalledMs - slowMs),
        hashAt,
      );
      expect([slowMs, kindsOf(first)]).toEqual([slowMs, ["fresh", "fresh"]]);
    }
  });

  describe("one that calls its head final, and is a block ahead when the sequencer stops", () => {
    const seen: SeenHead[] = [
      { endpoint: "a", head: blockAt(NEWEST), finalized: blockAt(NEWEST) },
      { endpoint: "b", head: blockAt(NEWEST - 1n), finalized: blockAt(NEWEST - FINALITY_BLOCKS) },
    ];
    const level = seen.map((one) => ({ ...one, head: blockAt(NEWEST - 1n) }));
    const hashAt = async (_: string, number: bigint) => hashOf(number);

    it("does not make it so, however long that takes", async () => {
      const ranking = createHeadRanking();
      await ranking(level, clockAt(NOW_MS), hashAt);
      for (const seconds of [2, 10, 20, 30, 40, 50, 60, 3_600]) {
        const found = await ranking(seen, clockAt(NOW_MS + seconds * 1_000), hashAt);
        expect([seconds, kindsOf(found)]).toEqual([seconds, ["fresh", "fresh"]]);
        expect(found.finalized).toEqual(blockAt(NEWEST - FINALITY_BLOCKS));
      }
    });

    it("does not make it so when the sequencer goes on, of which it hears first", async () => {
      for (const stalledMs of [10_000, 26_000, 31_000, 3_600_000]) {
        const ranking = createHeadRanking();
        let ms = NOW_MS;
        await ranking(level, clockAt(ms), hashAt);
        for (; ms < NOW_MS + stalledMs; ms += 2_000) await ranking(seen, clockAt(ms), hashAt);
        const further = seen.map((one) => (one.endpoint === "a" ? { ...one, head: blockAt(NEWEST + 1n) } : one));
        for (const laterMs of [0, 2_000, 6_000]) {
          const found = await ranking(further, clockAt(ms + laterMs), hashAt);
          expect([stalledMs, laterMs, kindsOf(found)]).toEqual([stalledMs, laterMs, ["fresh", "fresh"]]);
          expect(found.finalized).toEqual(blockAt(NEWEST - FINALITY_BLOCKS));
        }
      }
    });

    it("does not make it so when somebody sets our clock", async () => {
      const ranking = createHeadRanking();
      const elapsedMs = 5_000;
      await ranking(level, { nowMs: NOW_MS, elapsedMs }, hashAt);
      await ranking(seen, { nowMs: NOW_MS, elapsedMs: elapsedMs + 2_000 }, hashAt);
      const further = seen.map((one) => (one.endpoint === "a" ? { ...one, head: blockAt(NEWEST + 1n) } : one));
      const found = await ranking(further, { nowMs: NOW_MS + 600_000, elapsedMs: elapsedMs + 4_000 }, hashAt);
      expect(kindsOf(found)).toEqual(["fresh", "fresh"]);
      expect(found.finalized).toEqual(blockAt(NEWEST - FINALITY_BLOCKS));
    });
  });

  describe("one that invents the next blocks while the sequencer stands still, and calls what it stands at final", () => {
    // No faster than the clock, which then does not tell that they are not there.
    const seenAt = (honest: readonly SeenHead[], passedMs: number, everyMs: number): SeenHead[] => {
      const invented = NEWEST + BigInt(Math.floor(passedMs / everyMs));
      return [{ endpoint: "inventor", head: blockAt(invented, 1), finalized: blockAt(NEWEST) }, ...honest];
    };
    const standing = (endpoint: string, head: bigint): SeenHead => ({
      endpoint,
      head: blockAt(head),
      finalized: blockAt(NEWEST - FINALITY_BLOCKS),
    });
    const hashAt = async (_: string, number: bigint) => hashOf(number);

    it("does not outrun two that stand at the same place, whatever our clock says", async () => {
      for (const slowMs of [0, 600_000, -600_000]) {
        for (const everyMs of [BLOCK_MS, 5 * BLOCK_MS]) {
          const ranking = createHeadRanking();
          const honest = [standing("a", NEWEST), standing("b", NEWEST - 3n)];
          for (let ms = 0; ms <= 600_000; ms += 2_000) {
            const clock = { nowMs: NOW_MS + ms - slowMs, elapsedMs: ms };
            const found = await ranking(seenAt(honest, ms, everyMs), clock, hashAt);
            expect([everyMs, ms, found.finalized]).toEqual([everyMs, ms, blockAt(NEWEST - FINALITY_BLOCKS)]);
            expect(found.standings.get("a")).toEqual({ kind: "fresh" });
            if (ms > 16 * everyMs) expect(found.order).toEqual(["a", "b", "inventor"]);
          }
        }
      }
    });

    it("is told apart from one whose clock is ahead, because it may be the others that have stopped", async () => {
      const ranking = await rank({ a: { head: NEWEST - 1_000n }, b: { head: NEWEST - 1_000n }, c: { head: NEWEST } });
      expect(ranking.standings.get("c")).toEqual({
        kind: "contradicts",
        reason: `is at block ${NEWEST}, 2000 s ahead of more endpoints that agree: they have stopped, or it makes blocks up`,
      });
      expect(ranking.order).toEqual(["a", "b", "c"]);
    });

    it("is believed before two that stand at different places: then they have stopped, and not the sequencer", async () => {
      const ranking = await rank({ a: { head: NEWEST - 1_000n }, b: { head: NEWEST - 500n }, c: { head: NEWEST } });
      expect(ranking.order[0]).toBe("c");
      expect(ranking.finalized).toEqual(blockAt(NEWEST - FINALITY_BLOCKS));
    });

    it("is believed with as many to support it as there are against it", async () => {
      const ranking = await rank({
        a: { head: NEWEST - 1_000n },
        b: { head: NEWEST - 1_000n },
        c: { head: NEWEST },
        d: { head: NEWEST },
      });
      expect(ranking.order).toEqual(["c", "d", "a", "b"]);
    });
  });

  it("one alone that calls its head final does not make it so", async () => {
    const ranking = await rank({ a: { head: NEWEST, finalized: NEWEST }, b: { head: NEWEST } });
    expect(ranking.finalized).toEqual(blockAt(NEWEST - FINALITY_BLOCKS));
  });

  it("one whose finality stands still does not keep two others from theirs, and one other it does", async () => {
    const behind = { head: NEWEST, finalized: 1n };
    const two = await rank({ a: behind, b: { head: NEWEST }, c: { head: NEWEST } });
    expect(two.finalized).toEqual(blockAt(NEWEST - FINALITY_BLOCKS));
    // That one may call final what is not, as after hours without a block.
    const one = await rank({ a: behind, b: { head: NEWEST, finalized: NEWEST } });
    expect(one.finalized).toEqual(blockAt(1n));
  });

  it("two that differ in a final block leave open what is final", async () => {
    const ranking = await rank({ a: { head: NEWEST, fork: 1 }, b: { head: NEWEST } });
    expect(ranking.order).toEqual(["a", "b"]);
    expect(ranking.finalized).toEqual({
      unknown: `differs from another endpoint in block ${NEWEST - FINALITY_BLOCKS}, which is final: one of them is wrong`,
    });
  });

  it("one that differs from the stale one, too, is not believed for being ahead", async () => {
    const ranking = await rank({ a: { head: NEWEST - 1_000n }, b: { head: NEWEST, fork: 1 } });
    expect("unknown" in ranking.finalized).toBe(true);
  });

  it("most of them outvote one that differs in a final block, in whatever order", async () => {
    const liar = { head: NEWEST, fork: 1 };
    const honest = { head: NEWEST - 1n };
    for (const nodes of [
      { liar, b: honest, c: honest },
      { b: honest, liar, c: honest },
      { b: honest, c: honest, liar },
    ]) {
      const ranking = await rank(nodes);
      expect(ranking.order).toEqual(["b", "c", "liar"]);
      expect(ranking.standings.get("liar")?.kind).toBe("contradicts");
      expect(ranking.finalized).toEqual(blockAt(NEWEST - 1n - FINALITY_BLOCKS));
    }
  });
});
