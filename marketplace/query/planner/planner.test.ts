import { describe, expect, it } from "vitest";
import { microUsdc } from "../../../settlement/domain/money.ts";
import type { Found } from "../../discovery/createCatalogue.ts";
import type { Listing, Method } from "../../registry/listing.ts";
import type { Task } from "../turn/agent.ts";
import type { Output } from "../turn/createCaller.ts";
import { createTrace } from "../turn/createTrace.ts";
import { composeAnswer, shownValue } from "./composeAnswer.ts";
import { createPlanner } from "./createPlanner.ts";
import { factsOf, focusOf } from "./factsOf.ts";
import { fillArguments } from "./fillArguments.ts";
import { kindOf } from "./kindOf.ts";
import { planQuestion } from "./planQuestion.ts";
import { readQuestion } from "./readQuestion.ts";
import { searchTextOf } from "./searchTextOf.ts";
import { stemOf } from "./stems.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const ADDRESS = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const read = (text: string) => readQuestion(text, NOW);
const valuesOf = (text: string) => read(text).values.map(({ kind, value }) => [kind, value]);

const methodOf = (
  name: string,
  description: string,
  input: object,
  output: object,
  required: string[] = [],
): Method => ({
  name,
  description,
  inputSchema: { type: "object", properties: input, required },
  outputSchema: { type: "object", properties: output },
  _meta: { surface: "both", queryEligible: true, latencyClass: "fast", pricing: {} },
  executeEligible: false,
  executePriceUsd: null,
});

const listingOf = (name: string, methods: Method[]): Found => ({
  listing: {
    toolId: name,
    name,
    description: "",
    category: null,
    methods,
    price: microUsdc(0n),
    suggestedPrompts: [],
  } as unknown as Listing,
  methods,
});

it("the planner calls a tool as often and as many times at once as it says that it takes, and says what was left out", async () => {
  const paced = methodOf(
    "weigh_parcel",
    "The weight of a parcel, by its number.",
    { number: { type: "integer" } },
    { weight: { type: "number" } },
    ["number"],
  );
  paced._meta.rateLimit = { maxRequestsPerMinute: 3, maxConcurrency: 2 };
  const found = [listingOf("Parcels", [paced])];
  let [running, most, calls] = [0, 0, 0];
  const outputs: Output[] = [];
  const caller = {
    outputs,
    failures: [],
    async call(listing: Listing, method: Method, args: Record<string, unknown>) {
      calls += 1;
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      const value = { weight: 420 };
      const alias = `weigh_parcel_${calls}`;
      const output = { alias, listing, method, args, value, text: JSON.stringify(value), atMs: 0, durationMs: 0 };
      outputs.push(output);
      return { kind: "answered", output };
    },
  } as unknown as Task["caller"];
  const concluded = await createPlanner().conclude({
    ...{ query: "What is the weight of parcel numbers 1, 2, 3, 4 and 5?", earlier: [], found, stepBudget: 10, caller },
    ...{ trace: createTrace(() => NOW), nowMs: () => NOW, say: () => undefined },
  } as unknown as Task);
  expect([calls, most]).toEqual([3, 2]);
  expect(concluded).toMatchObject({
    kind: "answer",
    gaps: [{ code: "paced", detail: "2 calls of weigh_parcel were not made: it takes no more in a minute" }],
  });
});

const date = { type: "string", format: "date" };
const DAYS = methodOf(
  "business_days",
  "How many business days lie between two days.",
  { from: date, to: date, holidays: { type: "array", items: date, default: [] } },
  { days: { type: "integer" }, businessDays: { type: "integer" } },
  ["from", "to"],
);
const SERIES = methodOf(
  "moving_average",
  "The moving average of a series.",
  {
    values: { type: "array", items: { type: "number" } },
    window: { type: "integer", default: 3, description: "how many values are averaged" },
  },
  { averages: { type: "array" } },
  ["values", "window"],
);

describe("what a question names", () => {
  it.each<[string, unknown[]]>([
    ["13/11/2026, 11/13/2026, 13.11.2026, 2026/11/13", Array(4).fill(["date", "2026-11-13"])],
    ["5/5/2026", [["date", "2026-05-05"]]],
    [
      "mean of .5 and -.5",
      [
        ["number", 0.5],
        ["number", -0.5],
      ],
    ],
    ["[.5, 1.5]", [["numbers", [0.5, 1.5]]]],
  ])("%s", (text, expected) => {
    expect(valuesOf(text)).toEqual(expected);
  });

  it("is no day where the month could be either of two, or is none", () => {
    for (const text of ["03/04/2026", "13/13/2026", "1.2.3.2026", "31/02/2026"]) {
      expect(valuesOf(text).filter(([kind]) => kind === "date")).toEqual([]);
    }
  });

  it.each<[string, unknown[]]>([
    [
      "from 2026-01-31 to 13 November 2026 or Nov 3rd, 2026",
      [
        ["date", "2026-01-31"],
        ["date", "2026-11-13"],
        ["date", "2026-11-03"],
      ],
    ],
    [
      "yesterday and tomorrow",
      [
        ["date", "2026-11-15"],
        ["date", "2026-11-17"],
      ],
    ],
    [
      "2026-02-30 is no day",
      [
        ["number", 2026],
        ["number", 2],
        ["number", 30],
      ],
    ],
    ["mean of 1, -2.5 and 3e2", [["numbers", [1, -2.5, 300]]]],
    [
      "1, 2, 3 and 4, 5, 6",
      [
        ["numbers", [1, 2, 3]],
        ["numbers", [4, 5, 6]],
      ],
    ],
    ["[1 2 3]", [["numbers", [1, 2, 3]]]],
    [
      `${ADDRESS} and 0x${"ab".repeat(32)}`,
      [
        ["address", ADDRESS],
        ["hash", `0x${"ab".repeat(32)}`],
      ],
    ],
    ['the words of "1, 2 and 2026-01-01"', [["text", "1, 2 and 2026-01-01"]]],
    ["it's Ann's 'last word'", [["text", "last word"]]],
    ["count the words in: to be or not", [["text", "to be or not"]]],
    ["the series: 1, 2, 3", [["numbers", [1, 2, 3]]]],
    ["mean of 1e400, 2", [["number", 2]]],
    ["two weeks of 3rd and 10k and 0x12", [["number", 2]]],
    ["4, 8, 15: what's the median?", [["numbers", [4, 8, 15]]]],
  ])("%s", (text, expected) => {
    expect(valuesOf(text)).toEqual(expected);
  });

  it("has the name of a date's own day with it, and that of another day as a word", () => {
    const wordsOf = (text: string) => read(text).words.map((word) => word.text);
    expect(wordsOf("on Friday 2026-11-20")).toEqual(["on"]);
    expect(wordsOf("on Fri, 20 November 2026, or 2026-11-23, a Monday, or 2026-11-24 (Tue)")).toEqual([
      "on",
      "or",
      "or",
    ]);
    expect(wordsOf("on Monday 2026-11-20")).toEqual(["on", "Monday"]);
  });

  it("is in quotes for whoever takes a text, and what it says for whoever takes that", () => {
    const inside = (text: string) =>
      read(text).values.map((value) => (value.kind === "text" ? value.inside?.value : value.value));
    expect(inside('"2026-11-13" and "3, 1, 2" and "7" and "a 7" and "2026-11-13 or 2026-11-14"')).toEqual([
      "2026-11-13",
      [3, 1, 2],
      7,
      undefined,
      undefined,
    ]);
    expect(fillArguments(DAYS, read('business days from "2026-01-01" to "2026-03-01"'))).toMatchObject({
      calls: [{ from: "2026-01-01", to: "2026-03-01" }],
    });
    expect(fillArguments(SERIES, read('moving average of "1,000" and "2,000" with window 2'))).toMatchObject({
      calls: [{ values: [1_000, 2_000], window: 2 }],
      assumptions: ['"1,000" was read as the number 1000', '"2,000" was read as the number 2000'],
    });
  });

  it("is doubtful where digits could be one number or several", () => {
    const readings = (text: string) =>
      read(text).values.map(({ value, isAmbiguous = false }) => [value, isAmbiguous] as const);
    expect(readings("mean of 1,000,000 and 3")).toEqual([
      [1_000_000, true],
      [3, false],
    ]);
    expect(readings("mean of 1 000 and 20 500.5")).toEqual([
      [1_000, true],
      [20_500.5, true],
    ]);
    expect(readings("mean of 1,5 and 2,5")).toEqual([
      [[1, 5], true],
      [[2, 5], true],
    ]);
    expect(readings("mean of 100,200,300")).toEqual([[[100, 200, 300], true]]);
    expect(readings("mean of 1, 2, 3")).toEqual([[[1, 2, 3], false]]);
    expect(readings("mean of 1,2,3")).toEqual([[[1, 2, 3], false]]);
    expect(readings("block one")).toEqual([[1, true]]);
    expect(readings("which one is it, and the one before?")).toEqual([]);
  });

  it("has a minus however it is typed, and signs that make something else of numbers as words", () => {
    expect(valuesOf("mean of −5 and –3")).toEqual([
      ["number", -5],
      ["number", -3],
    ]);
    const signsOf = (text: string) => read(text).words.flatMap((word) => (/\p{L}/u.test(word.text) ? [] : [word.text]));
    expect(signsOf("1/2, 2+3, 2*3, 2^3, 10-20, 10 – 20, 12:30, 5², ~5, $3, 4%, 1, 2, ..., 5 and - 3")).toEqual(
      "/ + * ^ - – : ² ~ $ % ... -".split(" "),
    );
    expect(signsOf("the 3-day window=3 of 1, 2, 3... by ACT/360: -1, +2!")).toEqual([]);
  });

  it("is read in time that does not run away, whatever it is made of", () => {
    for (const part of ["'", '"', ": a", "1,", "1 and ", "[1 ", "-", "0x", "2026-01-", "and and "]) {
      const before = process.cpuUsage();
      read(part.repeat(4_000).slice(0, 4_000));
      // Of the processor, which others may have as well. Generous: what is quadratic takes milliseconds, what is exponential
      // would not end.
      expect([part, process.cpuUsage(before).user < 10_000_000]).toEqual([part, true]);
    }
  });
});

describe("arguments are found in time that does not run away,", () => {
  // As generous as above. Each took minutes, or a good part of one.
  const isInTime = (work: () => void) => {
    const before = process.cpuUsage();
    work();
    return process.cpuUsage(before).user < 5_000_000;
  };

  it("however much a question names of what many properties choose from", () => {
    const letters = [..."abcdefghijklmnopqrstuvwxyz"];
    const properties = Array.from({ length: 80 }, (_, i) => [
      `of ${letters[i] ?? i}`,
      { type: "string", enum: letters },
    ]);
    const method = methodOf("choose", "Chooses.", Object.fromEntries(properties), {});
    const question = read(Array.from({ length: 2_000 }, (_, i) => letters[i % letters.length]).join(" "));
    expect(isInTime(() => fillArguments(method, question))).toBe(true);
    expect(fillArguments(method, question)).toMatchObject({
      kind: "filled",
      calls: [{ "of a": "a", "of b": "b", "of j": "j" }],
    });
  });

  it("however many numbers it has, and however many properties could take them", () => {
    const number = { type: "number", description: "a number of that" };
    const properties = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`n${i}`, number]));
    const question = read("n 1 ".repeat(1_000));
    expect(isInTime(() => fillArguments(methodOf("count", "Counts.", properties, {}), question))).toBe(true);
  });
});

describe("what a property takes", () => {
  it("is known by its form, and a pattern of the tool's is compared and never run", () => {
    expect(kindOf({ type: "string", pattern: "^0x[0-9a-fA-F]{40}$" })).toEqual({ kind: "address" });
    expect(kindOf({ type: "string", pattern: "^\\d+$" })).toEqual({ kind: "digits" });
    expect(kindOf({ type: "string", pattern: "^(a+)+$" })).toBeNull();
    expect(kindOf({ type: "string", format: "uri" })).toBeNull();
    expect(kindOf({ type: "array", items: { type: "object" } })).toBeNull();
  });

  it("is what stands beside its name, in whatever order", () => {
    const filled = fillArguments(
      DAYS,
      read("business days to 2026-03-01 from 2026-01-01 with the holidays 2026-02-02"),
    );
    expect(filled).toMatchObject({
      calls: [{ from: "2026-01-01", to: "2026-03-01", holidays: ["2026-02-02"] }],
      assumptions: [],
    });
    expect(fillArguments(SERIES, read("moving average of 1, 2, 3 with window 2"))).toMatchObject({
      calls: [{ values: [1, 2, 3], window: 2 }],
      assumptions: [],
    });
  });

  it("is what is said to be it, before its name or behind", () => {
    const holidaysOf = (text: string) => {
      const filled = fillArguments(DAYS, read(`business days from 2026-12-24 to 2027-01-04 ${text}`));
      return filled.kind === "filled" ? filled.calls[0]?.holidays : null;
    };
    expect(holidaysOf("if 2026-12-25 and 2027-01-01 are holidays")).toEqual(["2026-12-25", "2027-01-01"]);
    expect(holidaysOf("with the holidays 2026-12-25 and 2027-01-01")).toEqual(["2026-12-25", "2027-01-01"]);
    expect(holidaysOf("where 2026-12-25 is a holiday")).toEqual(["2026-12-25"]);
  });

  it("is assumed only where nothing else could be meant, and said to be", () => {
    expect(fillArguments(SERIES, read("5 day moving average of 1, 2, 3"))).toMatchObject({
      calls: [{ window: 5 }],
      assumptions: [expect.stringContaining("5 was taken for window")],
      assumed: ["window"],
    });
    expect(fillArguments(DAYS, read("business days from 2026-01-01"))).toMatchObject({ kind: "missing" });
  });

  it("is never said to have been taken where it cannot be", () => {
    const block = methodOf("get_block", "A block.", { number: { type: "string", pattern: "^\\d+$" } }, {});
    const filled = fillArguments(block, read("What is the hash of block 1.5?"));
    expect(filled).toMatchObject({ calls: [{}], assumptions: [] });
    expect(filled.kind === "filled" && filled.usedValues.size).toBe(0);
  });

  it("is not named by a word that stands beside another value", () => {
    expect(fillArguments(SERIES, read("the average of 1, 2, ..., 5"))).toMatchObject({
      calls: [{ values: [1, 2], window: 5 }],
      assumptions: ["5 was taken for window"],
    });
  });

  it("is as many calls as are enumerated, and says so where all between two may be meant", () => {
    const block = methodOf(
      "get_block",
      "A block.",
      { number: { type: "string", pattern: "^\\d+$", description: "of the block" } },
      {},
    );
    const callsOf = (text: string) => {
      const filled = fillArguments(block, read(text));
      return filled.kind === "filled" ? [filled.calls, filled.assumptions.length, filled.usedValues.size] : null;
    };
    expect(callsOf("block 1 and block 2")).toEqual([[{ number: "1" }, { number: "2" }], 0, 2]);
    expect(callsOf("block 1, 2 and 3")).toEqual([[{ number: "1" }, { number: "2" }, { number: "3" }], 0, 1]);
    // The five is left, which is a doubt.
    expect(callsOf("block 1 to 5")).toEqual([[{ number: "1" }], 0, 1]);
    expect(fillArguments(SERIES, read("moving average of 1 to 5 with window 2"))).toMatchObject({
      assumptions: ["1 to 5 was read as these two, and not as what lies between them"],
    });
    expect(fillArguments(SERIES, read("moving average of 1,000 and 2,000 with window 2"))).toMatchObject({
      calls: [{ values: [1_000, 2_000] }],
      assumptions: ["1,000 was read as the number 1000", "2,000 was read as the number 2000"],
    });
  });
});

describe("a plan", () => {
  const found = [listingOf("Dates", [DAYS]), listingOf("Series", [SERIES])];
  const planOf = (text: string, earlier: string[] = []) =>
    planQuestion(
      read(text),
      found,
      earlier.flatMap((before) => [...read(before).values]),
    );

  it("is sure of itself only if every word and value is understood", () => {
    const level = (text: string) => {
      const plan = planOf(text);
      return plan.kind === "steps" ? plan.steps.map((step) => step.level) : plan.kind;
    };
    expect(level("How many business days lie between 2026-01-01 and 2026-02-01?")).toEqual(["high"]);
    expect(level("How many business days lie between 2026-01-01 and 2026-02-01 for 7?")).not.toEqual(["high"]);
    expect(level("How many rainy business days lie between 2026-01-01 and 2026-02-01?")).not.toEqual(["high"]);
    expect(level("What is the exponential moving average of 1, 2, 3?")).toBe("miss");
    expect(level("What is the average rainfall?")).toBe("miss");
  });

  it("says what a question lacks", () => {
    expect(planOf("How many business days lie between them?")).toMatchObject({
      kind: "miss",
      message: "the tool Dates could answer this with business_days if the question gave it from and to",
      missing: ["from", "to"],
      rewrites: [],
    });
  });

  it("offers the question with the tool's own examples of what it lacks, if it can be answered so", () => {
    const day = (example: unknown) => ({ ...date, examples: [example] });
    const settling = (example: unknown) =>
      methodOf("settlement_date", "The day on which a trade settles.", { trade: day(example) }, { settlement: date }, [
        "trade",
      ]);
    const rewritesOf = (example: unknown) => {
      const plan = planQuestion(read("When does a trade settle?"), [listingOf("Dates", [settling(example)])]);
      return plan.kind === "miss" && plan.rewrites;
    };
    expect(rewritesOf("2026-11-13")).toEqual(["When does a trade settle (trade 2026-11-13)?"]);
    expect(rewritesOf("the day before yesterday")).toEqual([]);
    expect(rewritesOf("x".repeat(1_000))).toEqual([]);
  });

  it("takes a question of several apart, and what one part names serves the others", () => {
    const plan = planOf(
      "What is the moving average of 1, 2, 3? How many business days lie between 2026-01-01 and 2026-02-01?",
    );
    expect(plan.kind === "steps" && plan.steps.map(({ chosen }) => chosen.method.name)).toEqual([
      "moving_average",
      "business_days",
    ]);
  });

  it("asks about all that a question names, or says how many it leaves out", () => {
    const weigh = methodOf(
      "weigh_parcel",
      "The weight of a parcel, by its number.",
      { number: { type: "integer" } },
      { weight: { type: "number" } },
      ["number"],
    );
    const stepOf = (count: number) => {
      const numbers = Array.from({ length: count }, (_, i) => i + 1).join(", ");
      const plan = planQuestion(read(`What is the weight of parcel numbers ${numbers}?`), [
        listingOf("Parcels", [weigh]),
      ]);
      if (plan.kind !== "steps" || plan.steps[0] === undefined) throw new Error("there is no plan");
      return plan.steps[0];
    };
    expect(stepOf(40)).toMatchObject({ level: "high", doubts: [] });
    expect(stepOf(40).chosen.filled.calls).toHaveLength(40);
    expect(stepOf(130)).toMatchObject({
      level: "medium",
      doubts: [expect.stringContaining("30 of what the question")],
    });
    expect(stepOf(130).chosen.filled.calls).toHaveLength(100);
  });

  it("remembers what was named before", () => {
    const plan = planOf("And the business days?", ["How many days are between 2026-01-01 and 2026-02-01?"]);
    expect(plan.kind === "steps" && plan.steps[0]?.chosen.filled.calls).toEqual([
      { from: "2026-01-01", to: "2026-02-01" },
    ]);
  });

  it("is made in time that does not run away, whatever is asked and whatever a listing takes", () => {
    const many = (count: number, schema: object) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`argument_${i}`, schema]));
    const choice = { type: "string", enum: Array.from({ length: 200 }, (_, i) => `C${i}`) };
    const methods = [many(80, { type: "number" }), many(80, choice)].flatMap((input, kind) =>
      Array.from({ length: 10 }, (_, i) =>
        methodOf(`convert_${kind}_${i}`, "From one to another. ".repeat(200), input, many(100, { type: "array" })),
      ),
    );
    const found = [listingOf("Everything", methods)];
    for (const part of [
      "1/2/2026 ",
      "1 of ",
      "C1 ",
      "C1 to C2 ",
      "argument 1 ",
      "between a 1 and ",
      "2026-01-01 ",
      "not ",
      "until 1 ",
    ]) {
      const question = read(part.repeat(4_000).slice(0, 4_000));
      const before = process.cpuUsage();
      planQuestion(question, found);
      expect([part, process.cpuUsage(before).user < 10_000_000]).toEqual([part, true]);
    }
  });

  it("that goes on about what was asked before asks about that, and says so", () => {
    const BLOCK = methodOf(
      "get_block",
      "The newest block, or one by its number: hash, transactions.",
      { number: { type: "string", pattern: "^\\d+$", description: "the block's number" } },
      { hash: { type: "string" }, transactions: { type: "integer" } },
    );
    const earlier = read("What is the hash of block 17?").values;
    const planOf = (text: string) => {
      const plan = planQuestion(read(text), [listingOf("Chain", [BLOCK])], earlier);
      return plan.kind === "miss"
        ? "miss"
        : plan.steps.map(({ chosen, level, assumptions }) => [level, chosen.filled.calls, assumptions]);
    };
    const said = ["17, which was asked about before, was taken for number"];
    expect(planOf("And how many transactions?")).toEqual([["medium", [{ number: "17" }], said]]);
    expect(planOf("How many transactions are in it?")).toEqual([["medium", [{ number: "17" }], said]]);
    expect(planOf("And how many transactions are in block 18?")).toEqual([["high", [{ number: "18" }], []]]);
    expect(planOf("How many transactions are in the newest block?")).toEqual([["high", [{}], []]]);
    expect(planOf("And how many transactions are in the newest block?")).toEqual([["high", [{}], []]]);
  });

  it("does not take a method for one of which it has only half the name", () => {
    const mean = methodOf(
      "describe",
      "Mean and median of a series.",
      SERIES.inputSchema.properties as object,
      { mean: { type: "number" } },
      ["values"],
    );
    const plan = planQuestion(read("What is the average of 1, 2, 3?"), [listingOf("Series", [SERIES, mean])]);
    expect(plan.kind === "steps" && plan.steps[0]?.chosen.method.name).toBe("describe");
  });
});

describe("a method that has the words of a question", () => {
  const BLOCK = methodOf(
    "get_block",
    "The newest block, or one by its number: hash, time, transactions.",
    { number: { type: "string", pattern: "^\\d+$", description: "the block's number; the newest if it is left out" } },
    {
      hash: { type: "string" },
      time: { type: "string" },
      transactions: { type: "integer" },
      gasUsed: { type: "string" },
    },
  );
  const TRANSACTION = methodOf(
    "get_transaction",
    "In which block a transaction was mined.",
    { hash: { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" } },
    { status: { type: "string" }, block: { type: "string" } },
    ["hash"],
  );
  const SETTLEMENT = methodOf(
    "settlement_date",
    "The day on which a trade settles.",
    { trade: date, days: { type: "integer", default: 2 } },
    { settlement: date, skipped: { type: "array", items: date } },
    ["trade"],
  );
  const RETURNS = methodOf(
    "returns",
    "The change from each value to the next.",
    {
      values: { type: "array", items: { type: "number" } },
      kind: { enum: ["simple", "log"], type: "string", default: "simple" },
    },
    { returns: { type: "array" }, total: { type: "number" }, drawdown: { type: "number" } },
    ["values"],
  );
  const found = [
    listingOf("Chain", [BLOCK, TRANSACTION]),
    listingOf("Dates", [SETTLEMENT, DAYS]),
    listingOf("Series", [RETURNS]),
  ];
  const planOf = (text: string) => {
    const plan = planQuestion(read(text), found);
    return plan.kind === "miss" ? plan.message : plan.steps.map(({ chosen, level }) => [chosen.method.name, level]);
  };

  it.each<[string, string | [string, string][]]>([
    ["What is the hash of block 7?", [["get_block", "high"]]],
    ["When does a trade of 2026-11-13 settle?", [["settlement_date", "high"]]],
    ["What is the total log return of 100, 110?", [["returns", "high"]]],
    // Nothing says whose drawdown that is, and nothing else is called so.
    ["What is the drawdown of 100, 90?", [["returns", "medium"]]],
    ["What is the total of 1, 2, 3?", "the tool Series does not say with returns of what its total is"],
    [
      "When did a trade that settles on 2026-11-17 happen?",
      expect.stringContaining("gives 2026-11-17 as what settlement_date"),
    ],
    [
      "What is the trade if settlement is 2026-11-17?",
      expect.stringContaining("gives 2026-11-17 as what settlement_date"),
    ],
    ["Which block has 3 transactions?", expect.stringContaining("gives 3 as what get_block would answer")],
    ["What is the newest transaction?", expect.stringContaining("does not say of what it asks the")],
    [
      `Which block has the hash 0x${"ab".repeat(32)}?`,
      expect.stringContaining("is about what get_block of Chain is for"),
    ],
    ["What is the time?", "the question does not say of what it asks the time"],
    ["How many trades settle on 2026-11-13?", expect.stringMatching(/as what settlement_date|how many trades/)],
    [
      "Which business days lie between 2026-11-02 and 2026-11-06?",
      expect.stringContaining("they themselves were asked for"),
    ],
    ["How much gas was left in block 1?", "no tool that was found is about left"],
    [
      "What are the hash, time and transactions of block 7, but not its gas?",
      "no tool that was found is about but and not",
    ],
    ["How does a trade of 2026-11-13 settle?", "no tool that was found is about How"],
    // A note is no negation.
    ["What is the hash of the note of block 7?", "no tool that was found is about note"],
    ["Who settles a trade of 2026-11-13?", "no tool that was found is about Who"],
    ["What are the squared returns of 1, 2, 3?", "no tool that was found is about squared"],
    ["How many business days lie not between 2026-11-02 and 2026-11-06?", "no tool that was found is about not"],
  ])("%s", (text, expected) => {
    expect(planOf(text)).toEqual(expected);
  });
});

describe("a question that says what its values are", () => {
  const values = { type: "array", items: { type: "number" } };
  const DESCRIBE = methodOf(
    "describe",
    "Mean and median of a series, and not its sum.",
    { values },
    { mean: { type: "number" }, median: { type: "number" } },
    ["values"],
  );
  const LINKS = methodOf(
    "extract_links",
    "Every link in a text.",
    { text: { type: "string" } },
    { links: { type: "array", items: { type: "string" } } },
    ["text"],
  );
  const found = [listingOf("Series", [DESCRIBE]), listingOf("Texts", [LINKS])];
  const planOf = (text: string) => {
    const plan = planQuestion(read(text), found);
    return plan.kind === "miss" ? "miss" : plan.steps.map(({ chosen, level }) => [chosen.method.name, level]);
  };

  it.each<[string, unknown]>([
    // Answered, and not sure: nobody here knows what these are.
    ["mean of sales 10, 12 and 14", [["describe", "medium"]]],
    ["our weekly signups were 31, 28, 45 - what's the median?", [["describe", "medium"]]],
    ['find all links in this note: "see https://base.org"', [["extract_links", "medium"]]],
    ["How bad was the median of 3, 1, 2?", [["describe", "high"]]],
    // What is asked of them is no name of theirs.
    ["mean of the ranks of 10, 12 and 14", "miss"],
    ["mean of 10, 12 with weights 1, 2", "miss"],
    ["mean of 10, 12 and 14, not counting the 12th", "miss"],
    ["How long was the median of 3, 1, 2?", [["describe", "medium"]]],
  ])("%s", (text, expected) => {
    expect(planOf(text)).toEqual(expected);
  });
});

describe("a question as people type it", () => {
  const MEASURE = methodOf(
    "measure",
    "Words and sentences in a text.",
    { text: { type: "string" } },
    { words: { type: "integer" }, sentences: { type: "integer" } },
    ["text"],
  );
  const DESCRIBE = methodOf(
    "describe",
    "Mean and maximum of a series.",
    { values: { type: "array", items: { type: "number" } } },
    { mean: { type: "number" }, max: { type: "number" } },
    ["values"],
  );
  const WEIGH = methodOf(
    "weigh_parcel",
    "The weight of a parcel, by its number, and who sent it.",
    { number: { type: "integer" } },
    { weight: { type: "number" }, sender: { type: "string" } },
    ["number"],
  );
  const BLOCK = methodOf(
    "get_block",
    "A block: hash, transactions.",
    { number: { type: "integer" } },
    { hash: { type: "string" }, transactions: { type: "integer" } },
  );
  const TRANSACTION = methodOf(
    "get_transaction",
    "In which block a transaction was mined.",
    { hash: { type: "string", pattern: "^0x[0-9a-fA-F]{64}$" } },
    { status: { type: "string", enum: ["success", "reverted"] }, block: { type: "string" } },
    ["hash"],
  );
  const found = [
    listingOf("Text facts", [MEASURE]),
    listingOf("Numbers", [DESCRIBE, SERIES]),
    listingOf("Parcels", [WEIGH]),
    listingOf("Chain", [BLOCK, TRANSACTION]),
    listingOf("Dates", [DAYS]),
  ];
  const names = found.map(({ listing }) => listing.name);
  const HASH = `0x${"ab".repeat(32)}`;
  const planOf = (text: string) => {
    const plan = planQuestion(readQuestion(text, NOW, names), found);
    return plan.kind === "miss"
      ? "miss"
      : plan.steps.map(({ chosen, level }) => [chosen.method.name, level, chosen.filled.calls]);
  };

  it.each<[string, unknown]>([
    // Whoever names a tool, and gives it what it takes in quotes.
    ['Ask Text facts how many words "a b c" has', [["measure", "high", [{ text: "a b c" }]]]],
    ['Using the tool Text facts, measure "a b c"', [["measure", "high", [{ text: "a b c" }]]]],
    ["Numbers: mean of 1, 2, 3", [["describe", "high", [{ values: [1, 2, 3] }]]]],
    ['What is the mean of "1, 2, 3"?', [["describe", "high", [{ values: [1, 2, 3] }]]]],
    ['Text facts: translate "a b c"', "miss"],
    ["Ask Numbers who won", "miss"],
    // A tool that says who did something is asked who did.
    ["Who sent parcel 7?", [["weigh_parcel", "high", [{ number: 7 }]]]],
    ["Who weighs parcel 7?", "miss"],
    ["Who lost parcel 7?", "miss"],
    // What others give values to.
    ["Could you check the mean for me? The numbers are 4, 8.", [["describe", "high", [{ values: [4, 8] }]]]],
    ["Our sales were 4, 8, what is the mean?", [["describe", "medium", [{ values: [4, 8] }]]]],
    ["Without outliers: 4, 8, 100. What is the mean?", "miss"],
    ["Ignore 9. What is the mean of 1, 2, 9?", "miss"],
    ["If Mondays are no business days, how many lie between 2026-11-02 and 2026-11-16?", "miss"],
    // What holds elsewhere or at another time.
    ["How many business days lie between 2026-11-02 and 2026-11-16 as of 2026-01-01?", "miss"],
    ["What is the mean of the largest three of 1, 5, 9, 7?", "miss"],
    [`When was transaction ${HASH} mined?`, "miss"],
    // What only one method says, though another is called by a word of the question.
    [`In which block was ${HASH} mined?`, [["get_transaction", "high", [{ hash: HASH }]]]],
    // One result of another.
    ["What is the mean of the max of 1, 2, 3?", "miss"],
    ["max - mean of 1, 2, 3", "miss"],
    ["mean to max of 1, 2, 3", "miss"],
    ["mean/max of 1, 2, 3", [["describe", "medium", [{ values: [1, 2, 3] }]]]],
    ["What is the hash of the transactions in block 1?", "miss"],
    // Two lists, or one.
    ["mean of 1, 2, 3 and 4, 5", [["describe", "medium", [{ values: [1, 2, 3] }, { values: [4, 5] }]]]],
    ["mean of [1, 2, 3] and [4, 5]", [["describe", "high", [{ values: [1, 2, 3] }, { values: [4, 5] }]]]],
  ])("%s", (text, expected) => {
    expect(planOf(text)).toEqual(expected);
  });

  it("asks for what the last of its words is, and not for what the others only say of it", () => {
    const method = methodOf(
      "year_fraction",
      "The part of a year between two days.",
      {},
      { days: { type: "integer" }, fraction: { type: "number" } },
    );
    const focus = (text: string) =>
      focusOf(factsOf({ days: 181, fraction: 0.5 }, { question: read(text), method, args: {} })).map(
        ({ label }) => label,
      );
    expect(focus("What is the day count fraction?")).toContain("fraction");
    expect(focus("What is the fraction?")).toEqual(["fraction"]);
    expect(focus("How many days?")).toEqual(["days"]);
  });

  it("that only says what is to be done wants all that comes of it", () => {
    const focus = (text: string) =>
      focusOf(factsOf({ words: 2, sentences: 1 }, { question: read(text), method: MEASURE, args: {} })).map(
        ({ label }) => label,
      );
    expect(focus('measure "a b"')).toEqual(["words", "sentences"]);
    expect(focus('measure the words of "a b"')).toEqual(["words"]);
    expect(focus('What does it measure in "a b"?')).toEqual([]);
  });

  it("is looked up by its words, what they mean, and what has a form", () => {
    expect(searchTextOf(read(`Is ${HASH} correlated?`)).split(" ")).toEqual(["correlated", "correl", "transaction"]);
    expect(searchTextOf(read("What is it?"))).toBe("");
  });
});

describe("a question that sounds like what a tool answers, and is another", () => {
  const values = { type: "array", items: { type: "number" } };
  const DESCRIBE = methodOf(
    "describe",
    "Mean, standard deviation and maximum of a series.",
    { values },
    { mean: { type: "number" }, deviation: { type: "number" }, max: { type: "number" } },
    ["values"],
  );
  const RETURNS = methodOf(
    "returns",
    "The change from each value to the next, and the deepest fall, called drawdown.",
    { values, kind: { enum: ["simple", "log"], type: "string", default: "simple" } },
    { returns: values, drawdown: { type: "number" } },
    ["values"],
  );
  const KEYWORDS = methodOf(
    "keywords",
    "The words that a text uses most, without the common ones.",
    { text: { type: "string" } },
    {
      keywords: {
        type: "array",
        items: { type: "object", properties: { word: { type: "string" }, count: { type: "integer" } } },
      },
    },
    ["text"],
  );
  const BLOCK = methodOf(
    "get_block",
    "The newest block, or one by its number: hash, time, transactions.",
    { number: { type: "string", pattern: "^\\d+$", description: "the block's number; the newest if it is left out" } },
    { hash: { type: "string" }, time: { type: "string" }, transactions: { type: "integer" } },
  );
  const EXTRACT = methodOf(
    "extract",
    "Every web address, e-mail address and number in a text.",
    { text: { type: "string" } },
    {
      urls: { type: "array", items: { type: "string" } },
      emails: { type: "array", items: { type: "string" } },
      numbers: values,
    },
    ["text"],
  );
  const found = [
    listingOf("Series", [DESCRIBE, RETURNS]),
    listingOf("Texts", [KEYWORDS, EXTRACT]),
    listingOf("Chain", [BLOCK]),
  ];
  const planOf = (text: string) => {
    const plan = planQuestion(read(text), found);
    return plan.kind === "miss" ? "miss" : plan.steps.map(({ chosen, level }) => [chosen.method.name, level]);
  };

  it.each<[string, unknown]>([
    // One of what is only listed, though another result is described in that word.
    ["What is the maximum drawdown of 100, 90?", [["returns", "high"]]],
    ["What is the maximum return of 100, 110, 99?", "miss"],
    ["largest log return of 100, 110, 99", "miss"],
    // A choice of something else than it is said of.
    ["log returns of 100, 90", [["returns", "high"]]],
    ["log drawdown of 100, 90", [["returns", "medium"]]],
    // Two results as one.
    ["mean and deviation of 1, 2, 3", [["describe", "high"]]],
    ["mean, deviation of 1, 2, 3", [["describe", "high"]]],
    ["standard deviation of 1, 2, 3", [["describe", "high"]]],
    ["standard mean of 1, 2, 3", [["describe", "medium"]]],
    ["log of the returns of 100, 90", [["returns", "medium"]]],
    ["mean deviation of 1, 2, 3", "miss"],
    ["mean of means of 1, 2, 3", "miss"],
    ["average mean of 1, 2, 3", "miss"],
    ["mean mean 1 2 3", "miss"],
    ["transaction hash of block 1", "miss"],
    ["transaction count of block 1", [["get_block", "high"]]],
    ["What are the transactions of block 1?", "miss"],
    ["list the transactions of block 1", "miss"],
    // A verb and an adjective that are written like a result.
    ["What does the series 3, 1, 2 mean?", "miss"],
    ["How mean is 3, 1, 2?", "miss"],
    ["What do 3, 1, 2 have for a mean?", [["describe", "high"]]],
    // A part of what is given, and not what is given.
    ['Which word is most common in the text "a b b"?', [["keywords", "high"]]],
    ['Which word does the sentence "a b b" use most?', [["keywords", "high"]]],
    ['Which sentence is most common in "a b b"?', "miss"],
    // What is left out of what is answered, and how many they are.
    ['Which common words does "a b b" use?', "miss"],
    ['How many words does "a b b" use most?', [["keywords", "medium"]]],
    ['How many e-mails are in "a@b.co"?', [["extract", "medium"]]],
    ['the number of emails in "a@b.co"', [["extract", "medium"]]],
    ['Which emails are in "a@b.co"?', [["extract", "high"]]],
    ['how many numbers are in "1 2"', [["extract", "medium"]]],
    ['the numbers in "1 2"', [["extract", "high"]]],
    ['the number of keywords in "a b"', [["keywords", "medium"]]],
    ['the most frequent word in "a b"', [["keywords", "high"]]],
    // Yes or no, of what says neither.
    ["Is 2 the mean of 1, 2, 3?", "miss"],
    ['Is "a@b.co" an e-mail?', "miss"],
    ['Does "a@b.co" have an e-mail?', [["extract", "medium"]]],
    ["Could you tell me the mean of 1, 2, 3?", [["describe", "high"]]],
    // One of several, and what is between them.
    ["hash of the newest block", [["get_block", "high"]]],
    ["newest hash of block 1 and block 2", "miss"],
    ["hash of blocks 1 and 2", [["get_block", "high"]]],
    ["time between block 1 and 2", [["get_block", "medium"]]],
    ["time between blocks 1 and 2", [["get_block", "medium"]]],
    // What ought to be.
    ["What should the mean of 1, 2, 3 be?", [["describe", "medium"]]],
  ])("%s", (text, expected) => {
    expect(planOf(text)).toEqual(expected);
  });
});

describe("a question whose parts are joined by something else than a list", () => {
  const [number, text] = [{ type: "number" }, { type: "string" }];
  const values = { type: "array", items: number };
  const address = { type: "string", pattern: "^0x[0-9a-fA-F]{40}$" };
  const BALANCES = methodOf(
    "get_balances",
    "What an account holds in coins and in tokens.",
    { address },
    { address: text, coins: text, tokens: text },
    ["address"],
  );
  const DESCRIBE = methodOf(
    "describe",
    "Mean, median and maximum of a series.",
    { values },
    { mean: number, median: number, max: number },
    ["values"],
  );
  const MOVING = methodOf(
    "moving_average",
    "The moving average of a series.",
    {
      values,
      window: { type: "integer", default: 3, description: "how many values are averaged", minimum: 1, maximum: 50 },
    },
    { averages: values },
    ["values"],
  );
  const CORRELATION = methodOf(
    "correlation",
    "The correlation of two series.",
    { a: values, b: values },
    { correlation: number },
    ["a", "b"],
  );
  const SETTLEMENT = methodOf(
    "settlement_date",
    "The day on which a trade settles: so many business days after it.",
    {
      trade: date,
      days: { type: "integer", default: 2, minimum: 0, maximum: 60 },
      holidays: { type: "array", items: date, default: [] },
    },
    { settlement: date },
    ["trade"],
  );
  const BLOCK = methodOf(
    "get_block",
    "The newest block, or one by its number: time, gas.",
    { number: { type: "string", pattern: "^\\d+$", description: "the block's number" } },
    { number: text, time: text, gasUsed: text, gasLimit: text },
  );
  const order = { type: "object", properties: { id: text, total: number } };
  const ORDERS = methodOf(
    "find_orders",
    "Orders of a customer.",
    { customer: { type: "string", description: "e-mail address" } },
    { orders: { type: "array", items: order }, count: { type: "integer" } },
    ["customer"],
  );
  const found = [
    listingOf("Accounts", [BALANCES]),
    listingOf("Series", [DESCRIBE, MOVING, CORRELATION]),
    listingOf("Dates", [SETTLEMENT]),
    listingOf("Chain", [BLOCK]),
    listingOf("Shop", [ORDERS]),
  ];
  const OTHER = `0x${"ab".repeat(20)}`;
  const planOf = (question: string) => {
    const plan = planQuestion(read(question.replace("A", ADDRESS).replace("B", OTHER)), found);
    return plan.kind === "miss" ? plan.message : plan.steps.map(({ level }) => level);
  };

  it.each([
    "coins and tokens of A",
    "coins & tokens of A",
    "coins of A and B",
    "coins of A and of B",
    "coins of address A",
    "What does A hold in coins?",
    "median of [1, 2, 3] and [4, 5, 6]",
    "mean, median and max of 3 9 4",
    "What is the mean, and what is the median of 3, 9, 4?",
    "correlation of [1, 2, 3] and [4, 5, 7]",
    "settlement date of the trade of 2026-11-13 with holidays 2026-11-16 and 2026-11-17",
    "number and time of block 7",
    "time of block #7",
    'orders of customer "a@b.co"',
    "gas used of block 7 🙂",
    "moving average with window 2 [1, 2, 3]",
    "moving average of 1, 2, 3 with window 2",
    "moving average with window 2 values 1, 2, 3",
    "moving average over 2 values of 1, 2, 3",
  ])("%s: is sure", (question) => {
    expect(planOf(question)).toEqual(["high"]);
  });

  it.each([
    // Signs that nobody says the meaning of.
    "coins + tokens of A",
    "coins of A + B",
    "coins of A - B",
    "max:mean of 3, 9",
    "mean > median of 1, 2, 6",
    "median of [1, 2, 3] + [4, 5, 6]",
    // One result in terms of another.
    "coins in tokens of A",
    "coins of A in tokens",
    "gas used of the gas limit of block 7",
    "max over mean of 3, 9",
    "mean of the moving average of 1, 2, 3, 4",
    // Values that are no list.
    "mean of 100 at 5",
    "correlation of [1, 2, 3], [4, 5, 7] and [7, 8, 9]",
    // What is spoken of and not given, and what is not spoken of at all.
    "settlement date of the trade of 2026-11-13 with holidays",
    "date 10 days from 2026-11-19",
    // How many, and not which; each, and not all.
    "time of the newest 5 blocks",
    "time of 5 blocks",
    "mean of each of 1, 2, 3",
    // A part, and not the whole.
    "mean of the series 1, 2, 3 that is meant",
    // What is computed from a list.
    'total of the orders of customer "a@b.co"',
    // A number that is a number, and no block's; a list that goes on; a word that is another result's.
    "count to 3",
    "mean of 1, 2, 3 …",
    "mean of 1, , 3",
    // A number that stands in a list with those of another argument.
    "mean of ten, 2, 3",
    "moving averages of 2 1, 2, 3",
    "mean of 3 values 1, 2, 3",
    "mean of 3 values: 1, 2, 3",
    // All up to it, and not it.
    "gas used until block 7",
    "gas used up to block 7",
    "gas used through block 7",
    "time until block 7",
    "mean of 1, 2, 3 until now",
    "settlement date of the trade until 2026-11-13",
  ])("%s: is not", (question) => {
    expect(planOf(question)).not.toEqual(["high"]);
  });

  it.each([
    ["moving average of 1, 2, 3, 4 with window 0", "the method moving_average takes window from 1 to 50, and not 0"],
    ["moving average of 1, 2, 3, 4 with window 51", "the method moving_average takes window from 1 to 50, and not 51"],
    [
      "moving average of 1, 2, 3, 4 with window 2.5",
      "the method moving_average takes whole numbers for window, and not 2.5",
    ],
    [
      "settlement date of the trade of 2026-11-13 after 100 days",
      "the method settlement_date takes days from 0 to 60, and not 100",
    ],
  ])("%s: is one that no tool takes, which costs no call", (question, message) => {
    expect(planOf(question)).toBe(message);
  });
});

it.each([
  [{}, "the method get_block takes number up to 9007199254740991, and not 100000000000000000000"],
  [{ minimum: 0 }, "the method get_block takes number from 0 to 9007199254740991, and not 100000000000000000000"],
])("a number above what generators write as no bound is told that bound, and no other: %o", (bounds, message) => {
  const max = Number.MAX_SAFE_INTEGER;
  const block = methodOf(
    "get_block",
    "The gas used of a block by its number.",
    { number: { type: "integer", minimum: -max, maximum: max, ...bounds } },
    { gasUsed: { type: "number" } },
    ["number"],
  );
  const question = "What is the gas used of block number 100000000000000000000?";
  expect(planQuestion(read(question), [listingOf("Blocks", [block])])).toMatchObject({ kind: "miss", message });
});

// The rules are about words and forms, and not about the examples.
describe("a question to other tools", () => {
  const [number, text, integer] = [{ type: "number" }, { type: "string" }, { type: "integer" }];
  const list = { type: "array", items: text };
  const currency = { type: "string", enum: ["USD", "EUR", "GBP", "JPY"] };
  const found = [
    listingOf("Skycast", [
      methodOf(
        "get_forecast",
        "Tomorrow's weather of a city: temperature in Celsius, chance of rain, wind.",
        { city: text, day: date },
        { temperature: number, rainProbability: number, windKmh: number },
        ["city"],
      ),
      methodOf("list_alerts", "Active alerts of a region.", { region: text }, { alerts: list, count: integer }, [
        "region",
      ]),
    ]),
    listingOf("Ticker", [
      methodOf(
        "get_quote",
        "The price of a share by its symbol.",
        { symbol: text },
        { price: number, volume: integer, marketCap: number, high: number, low: number },
        ["symbol"],
      ),
    ]),
    listingOf("Fx", [
      methodOf(
        "convert",
        "An amount of one currency in another, at today's rate.",
        { amount: number, from: currency, to: currency },
        { converted: number, rate: number },
        ["amount", "from", "to"],
      ),
    ]),
    listingOf("Repositories", [
      methodOf(
        "get_repository",
        "Stars, forks and open issues of a repository, and its license.",
        { repository: text },
        { stars: integer, forks: integer, openIssues: integer, license: text },
        ["repository"],
      ),
    ]),
    listingOf("Nutrition", [
      methodOf(
        "nutrients",
        "Calories, protein and fat of a food per 100 grams.",
        { food: text, grams: { type: "number", default: 100 } },
        { calories: number, protein: number, fat: number },
        ["food"],
      ),
    ]),
    listingOf("Loans", [
      methodOf(
        "monthly_payment",
        "The monthly payment of a loan with a fixed rate.",
        { principal: number, rate: number, years: integer },
        { payment: number, totalInterest: number },
        ["principal", "rate", "years"],
      ),
    ]),
  ];
  const LOAN = { principal: 200_000, rate: 4.5, years: 30 };
  const planOf = (text: string) => {
    const plan = planQuestion(read(text), found);
    return plan.kind === "miss" ? "miss" : plan.steps.map(({ chosen, level }) => [level, chosen.filled.calls]);
  };

  it.each<[string, unknown]>([
    ['chance of rain in "Oslo"', [["high", [{ city: "Oslo" }]]]],
    ['chance of snow in "Oslo"', "miss"],
    ['wind temperature in "Oslo"', "miss"],
    ['average temperature of "Oslo"', "miss"],
    ['How many alerts are there for "Texas"?', [["high", [{ region: "Texas" }]]]],
    ['latest alert for "Texas"', [["medium", [{ region: "Texas" }]]]],
    ['price of "AAPL"', [["high", [{ symbol: "AAPL" }]]]],
    ['price of "AAPL" yesterday', "miss"],
    ['market price of "AAPL"', "miss"],
    ['high price of "AAPL"', "miss"],
    ['closing price of "AAPL"', "miss"],
    ['Should I buy "AAPL"?', "miss"],
    ["convert 100 from USD to EUR", [["high", [{ amount: 100, from: "USD", to: "EUR" }]]]],
    ["convert 100 to EUR from USD", [["high", [{ amount: 100, from: "USD", to: "EUR" }]]]],
    ["convert 100 USD to EUR", [["high", [{ amount: 100, from: "USD", to: "EUR" }]]]],
    // What there is to be of the one, and not what there is of the other.
    ["convert EUR to 100 USD", [["medium", [{ amount: 100, from: "EUR", to: "USD" }]]]],
    ["convert to 100 USD from EUR", [["medium", [{ amount: 100, from: "EUR", to: "USD" }]]]],
    ["convert 100 EUR, USD", [["medium", [{ amount: 100, from: "EUR", to: "USD" }]]]],
    ["convert 100 USD", "miss"],
    ["convert 100 USD to BTC", "miss"],
    ['What is the license of "a/b"?', [["high", [{ repository: "a/b" }]]]],
    ['How many forks and stars has "a/b"?', [["high", [{ repository: "a/b" }]]]],
    ['star forks of "a/b"', "miss"],
    ['closed issues of "a/b"', "miss"],
    ['calories in 200 grams of "apple"', [["high", [{ food: "apple", grams: 200 }]]]],
    ['sugar in "apple"', "miss"],
    ['fat calories of "apple"', "miss"],
    ["monthly payment for principal 200000, rate 4.5, years 30", [["high", [LOAN]]]],
    ["total interest for principal 200000, rate 4.5, years 30", [["high", [LOAN]]]],
    ["total payment for principal 200000, rate 4.5, years 30", "miss"],
    ["Which rate has a payment of 1000 for principal 200000 and years 30?", "miss"],
  ])("%s", (text, expected) => {
    expect(planOf(text)).toEqual(expected);
  });
});

describe("an answer", () => {
  const focus = (text: string) =>
    focusOf(factsOf({ days: 59, businessDays: 42 }, { question: read(text), method: DAYS, args: {} })).map(
      ({ label, value }) => [label, value],
    );

  it("is the property that the question asks for", () => {
    expect(focus("How many days lie between them?")).toEqual([["days", 59]]);
    expect(focus("How many business days lie between them?")).toEqual([["business days", 42]]);
    expect(focus("What lies between them?")).toEqual([]);
  });

  it("that is none, or a number that JSON rounds, is not sure", () => {
    const method = methodOf("weigh_parcel", "The weight.", {}, { weight: { type: "number" } });
    const plan = planQuestion(read("What is the weight of the parcel?"), [listingOf("Scales", [method])]);
    if (plan.kind === "miss") throw new Error(plan.message);
    const [step] = plan.steps;
    if (step === undefined) throw new Error("there is no step");
    const levelOf = (weight: unknown) => {
      const value = { weight };
      const { listing } = step.chosen;
      const output = {
        ...{ alias: "weigh_1", listing, method, args: {}, value, text: JSON.stringify(value), atMs: 0, durationMs: 0 },
      };
      return composeAnswer(
        [{ step, question: step.question, outputs: [output], failed: 0, leftOut: 0 }],
        [],
        false,
        false,
      ).level;
    };
    expect([0, null, [1], []].map(levelOf)).toEqual(["high", "medium", "high", "medium"]);
    expect([2 ** 53 - 1, 2 ** 53, [1, 2 ** 60], 0.1].map(levelOf)).toEqual(["high", "medium", "medium", "high"]);
  });

  it("has nothing of a tool's text but one inert line of bounded length", () => {
    expect(shownValue("a\nb\u202e\u0000c\u2028<b>")).toBe("a b c <b>");
    expect(shownValue("x".repeat(1_000))).toHaveLength(501);
    expect(shownValue(Array.from({ length: 1_000 }, (_, i) => i))).toContain("and 950 more");
    expect(shownValue([{ word: "fox", count: 2 }])).toBe("fox 2");
    expect(shownValue(null)).toBe("none");
  });

  it("has numbers as people write them", () => {
    expect(shownValue([110 / 100 - 1, 0.1 + 0.2, 2 / 3, 12345678901234567890n, 2 ** 53 - 1, 1e-9])).toBe(
      "0.1, 0.3, 0.666666666666667, 12345678901234567890, 9007199254740991, 1e-9",
    );
  });
});

describe("a stem", () => {
  it.each([
    ["settles", "settlement"],
    ["correlate", "correlation"],
    ["similar", "similarity"],
    ["transactions", "transaction"],
    ["succeed", "succeeded"],
    ["average", "mean"],
    ["largest", "maximum"],
  ])("of %s is that of %s", (one, other) => {
    expect(stemOf(one)).toBe(stemOf(other));
  });

  it.each([
    ["count", "country"],
    ["date", "data"],
    ["mined", "min"],
    ["business", "busy"],
  ])("of %s is not that of %s", (one, other) => {
    expect(stemOf(one)).not.toBe(stemOf(other));
  });
});
