import { expect, it } from "vitest";
import { outputOf } from "../interpreter/testing/calls.ts";
import { findUngrounded } from "./findUngrounded.ts";

const QUERY = "What is the weight of parcel number 7?";
const ungrounded = (text: string, value: unknown, derived: readonly string[] = []) =>
  findUngrounded(text, { query: QUERY, outputs: [outputOf("weigh_1", value)], derived });

it.each<[string, string, unknown, string[]]>([
  ["said", "420 grams", { weight: 420 }, []],
  ["of the question", "parcel 7", {}, []],
  ["not said", "421 grams", { weight: 420 }, ["421"]],
  ["rounded", "0.33 and 1", { share: 0.3333, most: 0.999 }, []],
  ["not so rounded", "0.34", { share: 0.3333 }, ["0.34"]],
  ["one of a list", "12, 421 and 9.5", { weights: [12, 420, 421, 9.5] }, []],
  ["with thousands", "1,234,567 units", { units: 1234567 }, []],
  ["that a text has with thousands", "1234567 units", { note: "1,234,567 units" }, []],
  ["twice, once as it is", "420 or 420.00", { weight: 420 }, []],
  ["below zero and said above it", "-420 or −7 degrees, 3-7", { degrees: 420, days: "3-7" }, ["-420", "-7"]],
  ["below zero", "It fell by 5 to (-12.5).", { change: -5, now: -12.5 }, []],
  ["part of a day", "between 2026-11-17 and 11 - 17", { day: "2026-11-17" }, []],
  [
    "a thousand times what was said",
    "420 thousand, 3 Million",
    { weight: 420, units: 3 },
    ["420 thousand", "3 Million"],
  ],
  ["said in millions", "4.2 million, 1 billion", { units: 4_213_000, all: "of 1 billion" }, []],
  ["written with an exponent", "0.0000001 and 2,500", { share: 1e-7, most: "2.5e3" }, []],
  ["only an exponent", "7", { share: 1e-7 }, []],
  ["an exponent of one", "it is 21", { share: 1.5e21 }, ["21"]],
  ["too long to be one", `${"9".repeat(500)}`, { weight: 1 }, ["9".repeat(500)]],
])("a number that is %s is told from others", async (_what, text, value, missing) => {
  expect(await ungrounded(text, value)).toEqual(missing);
});

it("a number that was computed is said", async () => {
  expect(await ungrounded("840 and 841", { weight: 420 }, ['{"sum":840}'])).toEqual(["841"]);
});

it("numbers are looked for in megabytes of others while everybody else runs", async () => {
  const values = Array.from({ length: 500_000 }, (_, i) => i / 7);
  let [turns, isDone] = [0, false];
  const others = () => {
    turns += 1;
    if (!isDone) setImmediate(others);
  };
  setImmediate(others);
  const wanted = Array.from({ length: 2_000 }, (_, i) => `1.${String(i).padStart(4, "0")}9`);
  const missing = await ungrounded(wanted.join(" "), values);
  isDone = true;
  expect(missing.length).toBeGreaterThan(1_900);
  expect(turns).toBeGreaterThan(50);
});
