import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { chapters } from "../../bench/page/chapters/index.ts";
import { filesOf, readResults } from "../../bench/page/writePage.ts";

const results = readResults();

it.each(Object.entries(filesOf(results)))("%s is what the results give, written by nobody's hand", (path, content) => {
  expect(readFileSync(path, "utf8")).toBe(content);
});

it("no chart lets a number or a line out of its frame, and each says in words what it shows", () => {
  for (const [path, svg] of Object.entries(filesOf(results))) {
    if (!path.endsWith(".svg")) continue;
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    expect(svg).toMatch(/<title id="title">.{10,}<\/title>\n<desc id="description">.{10,}<\/desc>/);
    for (const [, x = "", y = ""] of svg.matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)) {
      expect(Number(x)).toSatisfy((place: number) => place >= 0 && place <= 760);
      expect(Number(y)).toSatisfy((place: number) => place >= 0 && place <= 440);
    }
  }
});

it("whatever was measured is on the page", () => {
  expect(chapters.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(results)));
});
