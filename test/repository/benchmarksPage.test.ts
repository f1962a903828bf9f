import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Measured } from "../../bench/page/measureAll.ts";
import { filesOf, RESULTS } from "../../bench/page/writePage.ts";

const measured: Measured = JSON.parse(readFileSync(RESULTS, "utf8"));

it.each(Object.entries(filesOf(measured)))("%s is what the results give, written by nobody's hand", (path, content) => {
  expect(readFileSync(path, "utf8")).toBe(content);
});

it("no chart lets a number or a line out of its frame, and each says in words what it shows", () => {
  for (const [path, svg] of Object.entries(filesOf(measured))) {
    if (!path.endsWith(".svg")) continue;
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    expect(svg).toMatch(/<title id="title">.{10,}<\/title>\n<desc id="description">.{10,}<\/desc>/);
    for (const [, x = "", y = ""] of svg.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)) {
      expect(Number(x)).toSatisfy((place: number) => place >= 0 && place <= 760);
      expect(Number(y)).toSatisfy((place: number) => place >= 0 && place <= 440);
    }
  }
});
