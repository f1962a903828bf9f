import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";

const records = globSync("docs/decisions/[0-9]*.md").sort();
const index = readFileSync("docs/decisions/README.md", "utf8");

it("decisions are numbered without a gap", () => {
  const numbers = records.map((path) => Number(basename(path).slice(0, 4)));
  expect(numbers).toEqual(records.map((_, i) => i + 1));
});

describe.each(records)("%s", (path) => {
  const text = readFileSync(path, "utf8");
  const title = text.match(/^# (.+)$/m)?.[1];

  it("says what was rejected, and what follows", () => {
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(["Context", "Decision", "Rejected", "Consequences"]);
  });

  it("is in the index under its title", () => {
    expect(index).toContain(`- [${basename(path).slice(0, 4)}](${basename(path)}) ${title}\n`);
  });
});
