import { expect, it } from "vitest";
import { groups } from "../cases/groups.ts";
import { fixedCellsOf, readTables } from "./table.ts";

const cases = groups.flatMap((group) => group.cases);
const FAULTS = 78;

it("every fault of the list is run, once", () => {
  expect(cases.map(({ number }) => number)).toEqual(Array.from({ length: FAULTS }, (_, i) => i + 1));
});

it("the page of faults says what is run; `npm run faults` writes it", () => {
  expect(readTables().map((cells) => cells.slice(0, 4))).toEqual(cases.map(fixedCellsOf));
});

it("the page of faults has seen every fault, and nothing lost", () => {
  for (const [number, , , , happened, lost] of readTables()) {
    expect(happened, `fault ${number}`).not.toBe("");
    expect(lost, `fault ${number}`).toMatch(/^nothing, of \d+ charges and [\d.]+ USDC$/);
  }
});
