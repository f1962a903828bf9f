import { describe, expect, it } from "vitest";
import { type Create, drawGrid, drawSeries, type Series } from "./app/chart/plot.ts";
import { decimalSteps, linearScale } from "./app/chart/scale.ts";

// Elements as lines of text: neither a document nor a file is needed to look at a drawing.
const create: Create<string> = (tag, attributes, ...children) =>
  [`${tag} ${Object.values(attributes).join(" ")}`, ...children.flat(2)].filter(Boolean).join("\n");
const scale = linearScale([10], { from: 100, to: 0 }, 2, decimalSteps([1, 2, 5]));
const drawn = (series: readonly Pick<Series, "kind" | "values">[], isRunning = false) =>
  drawSeries(create, {
    places: [50, 150, 250, 350],
    stepWidth: 100,
    up: scale,
    series: series.map((one) => ({ name: "a", class: "a", ...one })),
    isRunning,
  });

describe("a scale", () => {
  it.each([
    [
      [0.3, 0.7],
      [0, 0.5, 1],
    ],
    [[3], [0, 2, 4]],
    [[10], [0, 5, 10]],
    [[2], [0, 1, 2]],
    [
      [11, 4_321],
      [0, 5_000],
    ],
    [[], [0, 0.5, 1]],
    [
      [0, 0],
      [0, 0.5, 1],
    ],
  ])("of %o has lines at %o", (values, ticks) => {
    expect(linearScale(values, { from: 0, to: 1 }, 2, decimalSteps([1, 2, 5])).ticks).toEqual(ticks);
  });

  it("goes from zero to its last line", () => {
    expect([0, 5, 10].map(scale.place)).toEqual([100, 50, 0]);
    expect(drawGrid(create, scale, { from: 0, to: 9 })).toEqual([
      "line grid 0 9 100 100",
      "line grid 0 9 50 50",
      "line grid 0 9 0 0",
    ]);
  });
});

describe("a drawing", () => {
  it("passes over steps without a measurement", () => {
    expect(drawn([{ kind: "line", values: [0, null, 10, 5] }])).toEqual(["g line a\npath line M50 100L250 0L350 50"]);
  });

  it("fills an area down to zero", () => {
    expect(drawn([{ kind: "area", values: [1, 2, null, null] }])).toEqual([
      "g area a\npath under M50 90L150 80V100H50Z\npath line M50 90L150 80",
    ]);
  });

  it("hints at the way to a step that has not ended", () => {
    expect(drawn([{ kind: "line", values: [0, 5, 5, 10] }], true)).toEqual([
      "g line a\npath line M50 100L150 50L250 50\npath line running M250 50L350 0",
    ]);
  });

  it("draws a measurement on its own as wide as its step", () => {
    expect(drawn([{ kind: "line", values: [null, 5, null, null] }])).toEqual(["g line a\npath line M100 50L200 50"]);
  });

  it("stands bars on each other, and draws none for nothing", () => {
    const values = [4, 0, null, 1];
    expect(
      drawn([
        { kind: "bar", values },
        { kind: "bar", values: [2, 0, 3, 0] },
      ]),
    ).toEqual(["g bar a\nrect 15 70 60 40\nrect 315 70 90 10", "g bar a\nrect 15 70 40 20\nrect 215 70 70 30"]);
  });
});
