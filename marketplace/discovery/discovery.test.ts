import { describe, expect, it } from "vitest";
import { microUsdc } from "../../settlement/domain/money.ts";
import type { Listing } from "../registry/listing.ts";
import { newListing as listing } from "../registry/testing/newListing.ts";
import { compactView } from "./compactView.ts";
import { createCatalogue } from "./createCatalogue.ts";
import { qualityOf } from "./rank.ts";
import { termOf, tokensOf } from "./terms.ts";
import { toolSchema, toolView } from "./toolView.ts";
import { type Filters, wantedMethods } from "./wantedMethods.ts";

function searching(...listings: Listing[]) {
  const catalogue = createCatalogue({ read: { all: () => [] } } as never);
  for (const each of listings) catalogue.apply(each);
  return {
    catalogue,
    names: (text: string | undefined, filters: Filters = {}, limit = 10) => {
      const wants = wantedMethods(filters);
      const found = catalogue.search({ ...(text !== undefined && { text }), limit, ...(wants && { wants }) });
      return found.map(({ listing: { name } }) => name);
    },
  };
}

describe("search", () => {
  const gas = listing("Gas tracker", { words: "current gas prices of every chain", category: "Crypto & DeFi" });
  const weather = listing("Weather", { description: "Forecasts for cities of the world" });
  const kalshi = listing("Prediction markets", { words: "getKalshiMarkets and Polymarket odds" });
  const { names } = searching(gas, weather, kalshi);

  it.each([
    ["gas prices", "Gas tracker"],
    ["gas price", "Gas tracker"],
    ["what is the price of gas", "Gas tracker"],
    ["forecast city", "Weather"],
    ["wether", "Weather"],
    ["forcasts", "Weather"],
    ["weahter", "Weather"],
    ["kalshi", "Prediction markets"],
    ["KALSHI market", "Prediction markets"],
    ["polymark", "Prediction markets"],
    ["crypto", "Gas tracker"],
    ["défi", "Gas tracker"],
  ])("%s finds %s", (text, name) => {
    expect(names(text)[0]).toBe(name);
  });

  it("finds nothing for what nothing is about, and never fails", () => {
    for (const text of ["xylophone", "???", "\0", "a".repeat(100_000), "𝄞 \ud800", "the", "__proto__ constructor"]) {
      expect(names(text)).toEqual([]);
    }
  });

  it("nobody takes a misspelt word, or the beginning of one, away from others by writing it into a listing", () => {
    const evil = listing("Evil", { description: "wether crypto forecats", stake: microUsdc(0n) });
    const { catalogue, names: found } = searching(weather, gas, evil);
    expect([found("wether"), found("crypto"), found("forecats")]).toEqual([["Weather"], ["Gas tracker"], ["Weather"]]);
    catalogue.apply({ ...evil, stake: evil.requiredStake, revision: evil.revision + 1 });
    for (const text of ["wether", "forecats"]) expect(found(text)).toEqual(["Evil", "Weather"]);
    expect(found("crypto")).toContain("Gas tracker");
    catalogue.apply({ ...evil, status: { kind: "delisted", reason: "gone" }, revision: evil.revision + 2 });
    expect(found("wether")).toEqual(["Weather"]);
  });

  it("a word as it is written comes before all that is nearly it, wherever it stands", () => {
    const near = listing("Weatherby Wether", { description: "hunting" });
    expect(searching(near, listing("Sky", { description: "weather" })).names("weather")[0]).toBe("Sky");
  });

  it("words of what is changed or gone are forgotten", () => {
    const tool = listing("Ferry times");
    const { catalogue } = searching(tool);
    const words = catalogue.words();
    let { revision } = tool;
    const apply = (more: Partial<Listing>) => catalogue.apply({ ...tool, ...more, revision: ++revision });
    for (let i = 0; i < 20; i += 1) apply({ description: `word${i} other${i} word${i}` });
    expect(catalogue.words()).toBe(words + 2);
    apply({});
    expect(catalogue.words()).toBe(words);
    apply({ stake: microUsdc(0n) });
    expect(catalogue.words()).toBe(0);
  });

  it("nobody fills the index, or makes a misspelt word slow for others, with a listing of made-up words", () => {
    const { catalogue } = searching(weather);
    const made = (from: number) => Array.from({ length: 700 }, (_, i) => `w${(from + i).toString(36)}x`).join(" ");
    const methods = Array.from({ length: 100 }, (_, i) => ({
      ...weather.methods[0],
      name: `m${i}`,
      description: made(i * 700),
    }));
    const [before, revision] = [catalogue.words(), weather.revision + 1_000];
    const evil = listing("Evil gas", {
      methods: [...methods, { ...weather.methods[0], name: "getTides" }] as never,
      revision,
    });
    catalogue.apply(evil);
    expect(catalogue.words() - before).toBeLessThanOrEqual(1_000);
    // What it is called, and what its methods are, is found all the same.
    for (const text of ["evil gas", "tides"]) {
      expect(catalogue.search({ text, limit: 1 })[0]?.listing.toolId).toBe(evil.toolId);
    }
    catalogue.apply({ ...evil, stake: microUsdc(0n), revision: revision + 1 });
    expect(catalogue.words()).toBe(before);
  });

  it("a flood of listings of made-up words brings few words, and takes none from those that come after it", () => {
    const { catalogue } = searching(weather);
    const word = (i: number) => `q${((i * 2_654_435_761) % 2 ** 32).toString(36)}`;
    const flood = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => {
        const words = Array.from({ length: 900 }, (_, w) => word((from + i) * 900 + w)).join(" ");
        return listing("Flood", { description: words });
      });
    for (const each of flood(0, 60)) catalogue.apply(each);
    const before = catalogue.words();
    const last = flood(60, 20);
    for (const each of last) catalogue.apply(each);
    expect(catalogue.words() - before).toBeLessThanOrEqual(20 * 20);
    // Whatever else of a listing changes, it brings no more of them.
    for (const each of last) catalogue.apply({ ...each, calls: 1, revision: each.revision + 1_000 });
    expect(catalogue.words() - before).toBeLessThanOrEqual(20 * 20);
    const honest = listing("Zebrawood", { description: "forecasts of zebrawood prices" });
    catalogue.apply(honest);
    for (const text of ["zebrawood", "zebrawod", "forecast price"]) {
      expect(catalogue.search({ text, limit: 1 })[0]?.listing.toolId).toBe(honest.toolId);
    }
    for (const each of last) catalogue.apply({ ...each, stake: microUsdc(0n), revision: each.revision + 2_000 });
    expect(catalogue.words() - before).toBeLessThanOrEqual(3);
  });

  it("of many misspelt words the first are understood", () => {
    const { names: found } = searching(weather);
    const strange = ["qzzqa", "qzzqb", "qzzqc", "qzzqd", "qzzqe", "qzzqf"];
    expect(found([...strange.slice(1), "wether"].join(" "))).toEqual(["Weather"]);
    expect(found([...strange, "wether"].join(" "))).toEqual([]);
    // Two letters that are wrong are looked for in two words, because that takes a dozen times as long as for one.
    expect(found("qzzqa foreacst")).toEqual(["Weather"]);
    expect(found("qzzqaa qzzqbb foreacst")).toEqual([]);
    expect(found("qzzqaa qzzqbb forecest")).toEqual(["Weather"]);
    // Words of which one letter may be wrong take no part of it.
    expect(found("qzzqa qzzqb qz foreacst")).toEqual(["Weather"]);
  });

  it("between tools that are as relevant, use, success and stake decide, and never against relevance", () => {
    const unused = listing("Tide tables");
    const tides = (more: Partial<Listing>) => listing("Tide tables", more);
    const earned = microUsdc(9_900_000n);
    const used = tides({ earned, paidCalls: 9_900, failedCalls: 100, payers: 300, description: "well used" });
    const failing = tides({ earned, paidCalls: 100, failedCalls: 9_900, payers: 300, description: "often fails" });
    const free = tides({ calls: 1_000_000, callsSucceeded: 1_000_000, description: "used for nothing" });
    const cheap = tides({ earned: microUsdc(1_000_000n), paidCalls: 1_000_000, payers: 9_000, description: "cheap" });
    const popular = listing("Ocean", {
      earned: microUsdc(10n ** 12n),
      paidCalls: 1_000_000,
      description: "the sea without tide",
    });
    const { catalogue } = searching(unused, failing, free, cheap, used, popular);
    const found = catalogue.search({ text: "tide tables", limit: 10 }).map(({ listing: { toolId } }) => toolId);
    expect(found.slice(0, 2)).toEqual([used.toolId, cheap.toolId]);
    expect(qualityOf(free)).toBe(qualityOf(unused));
    expect(found.at(-1)).toBe(popular.toolId);
  });

  it("shows what is featured without a question: verified ones first, then by what is known of them", () => {
    const [plain, used] = [listing("plain"), listing("used", { paidCalls: 500, earned: microUsdc(5_000_000n) })];
    const verified = listing("verified", { isVerified: true });
    expect(searching(plain, used, verified).names(undefined)).toEqual(["verified", "used", "plain"]);
    expect(searching(plain, used, verified).names(undefined, {}, 1)).toEqual(["verified"]);
  });

  it("what is delisted or short of stake is not found, and a change of words is noticed", () => {
    const tool = listing("Ferry times");
    const { catalogue, names: found } = searching(tool);
    expect(found("ferry")).toHaveLength(1);
    catalogue.apply({ ...tool, status: { kind: "delisted", reason: "gone" }, revision: tool.revision + 1 });
    expect(found("ferry")).toEqual([]);
    expect(found(undefined)).toEqual([]);
    catalogue.apply({ ...tool, stake: microUsdc(1n), revision: tool.revision + 2 });
    expect(found("ferry")).toEqual([]);
    catalogue.apply({ ...tool, name: "Harbour times", revision: tool.revision + 3 });
    expect(found("ferry")).toEqual([]);
    expect(found("harbor")).toEqual(["Harbour times"]);
    catalogue.apply({ ...tool, revision: tool.revision });
    expect(found("harbour")).toHaveLength(1);
  });
});

describe("filters", () => {
  const methods = [
    { surface: "answer" },
    { surface: "execute", pricing: { executeUsd: "0.1" } },
    { surface: "both", pricing: { executeUsd: "0" }, latencyClass: "instant" },
    { surface: "both", queryEligible: false },
    { surface: "answer", pricing: { executeUsd: "1" }, latencyClass: "streaming" },
  ];
  const tool = listing("filtered", { meta: methods });
  const { catalogue } = searching(tool);
  it.each<[Filters, number[]]>([
    [{}, [0, 1, 2, 3, 4]],
    [{ mode: "execute" }, [1, 2]],
    [{ requireExecutePricing: true }, [1, 2]],
    [{ mode: "query" }, [0, 2]],
    [{ surface: "execute" }, [1, 2, 3]],
    [{ surface: "answer" }, [0, 2, 3, 4]],
    [{ surface: "both" }, [2, 3]],
    [{ queryEligible: false }, [3]],
    [{ excludeLatency: ["slow"] }, [2, 4]],
    [{ excludeSlow: true }, [2]],
    [{ mode: "query", excludeLatency: ["instant"] }, [0]],
  ])("%j shows methods %j", (filters, expected) => {
    const wants = wantedMethods(filters);
    const [found] = catalogue.search({ limit: 10, ...(wants && { wants }) });
    expect(found?.methods.map(({ name }) => name)).toEqual(expected.map((i) => `method_${i}`));
  });

  it("a tool without a method that passes is not found", () => {
    const wants = wantedMethods({ mode: "execute", excludeLatency: ["slow", "instant"] });
    expect(catalogue.search({ limit: 10, ...(wants && { wants }) })).toEqual([]);
  });
});

describe("a tool as it is shown", () => {
  it("is proven by a hundred calls that ten wallets have paid for, and rounds in nobody's favour", () => {
    const shown = (more: Partial<Listing>) => toolView(listing("tool", more));
    expect(shown({}).successRate).toBeUndefined();
    const proven = { paidCalls: 100, failedCalls: 5, payers: 10 };
    expect(shown(proven)).toMatchObject({ isProven: true });
    expect(shown({ ...proven, paidCalls: 99 }).isProven).toBe(false);
    expect(shown({ ...proven, failedCalls: 6 }).isProven).toBe(false);
    expect(shown({ ...proven, payers: 9 }).isProven).toBe(false);
    expect(shown({ paidCalls: 99_999, failedCalls: 1 }).successRate).toBe("99.99");
    expect(shown({ ...proven, pings: 100, pingsAnswered: 97 })).toMatchObject({
      isProven: false,
      uptimePercent: "97",
    });
  });
});

describe("what is shown of a tool's calls", () => {
  it("is what was paid for and as many failures as count, whatever anybody has called for nothing", () => {
    const counts = { paidCalls: 19, failedCalls: 1 };
    const shown = { totalQueries: 20, successRate: "95" };
    expect(toolView(listing("tool", counts))).toMatchObject(shown);
    expect(toolView(listing("tool", { ...counts, calls: 1_000_000, callsSucceeded: 7 }))).toMatchObject(shown);
    const free = toolView(listing("tool", { calls: 100, callsSucceeded: 95 }));
    expect(free).toMatchObject({ isProven: false, totalQueries: 0 });
    expect(free.successRate).toBeUndefined();
  });
});

describe("a tool as an agent reads it", () => {
  const shown = (count: number, schema: object) => {
    const { methods, ...tool } = listing("tool", { description: "y".repeat(5_000), words: "x".repeat(5_000) });
    const many = Array.from({ length: count }, (_, i) =>
      methods.map((method) => ({ ...method, name: `m${i}`, inputSchema: { ...schema }, outputSchema: { ...schema } })),
    ).flat();
    return compactView(toolView({ ...tool, methods: many }));
  };

  it("has what its methods take and cost, and is short however long its listing is", () => {
    const { mcpTools, methodsLeftOut } = shown(2, { type: "object", required: ["a"] });
    expect(methodsLeftOut).toBeUndefined();
    expect(mcpTools).toHaveLength(2);
    expect(mcpTools[0]).toMatchObject({ name: "m0", inputSchema: { required: ["a"] }, executePriceUsd: null });
    expect(mcpTools[0]).not.toHaveProperty("outputSchema");
    const long = shown(200, { type: "object", description: "z".repeat(2_000) });
    expect(JSON.stringify(long).length).toBeLessThan(10_000);
    expect((long.methodsLeftOut ?? 0) + long.mcpTools.length).toBe(200);
    expect(toolSchema.safeParse(long).success).toBe(true);
  });
});

describe("words", () => {
  it("are the same in singular and plural, and names have parts", () => {
    expect(tokensOf("getGasPrices get_gas-price")).toEqual([
      "getGasPrices",
      "get",
      "Gas",
      "Prices",
      "get",
      "gas",
      "price",
    ]);
    for (const [one, many] of [
      ["price", "prices"],
      ["city", "cities"],
      ["box", "boxes"],
      ["match", "matches"],
    ]) {
      expect(termOf(one ?? "")).toBe(termOf(many ?? ""));
    }
    expect([termOf("news"), termOf("gas"), termOf("class"), termOf("status")]).toEqual([
      "new",
      "gas",
      "class",
      "status",
    ]);
  });
});
