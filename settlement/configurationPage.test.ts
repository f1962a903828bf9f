import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const page = read("../docs/configuration.md");

const PROGRAMS = [
  { prefix: "SETTLEMENT", config: read("./config.ts") },
  { prefix: "MARKETPLACE", config: read("../marketplace/config.ts") },
];

describe.each(PROGRAMS)("the settings that begin with $prefix", ({ prefix, config }) => {
  const namesIn = (text: string, pattern: string) =>
    [...text.matchAll(new RegExp(pattern.replace("NAME", `(${prefix}_\\w+)`), "gm"))].map(([, name]) => name).sort();

  it("have a line each on their page, and nothing else has one", () => {
    const settings = new Set(namesIn(config, "^ {2}NAME(?=:)"));
    expect(settings.size).toBeGreaterThan(10);
    expect(new Set(namesIn(page, "^\\| `NAME`"))).toEqual(settings);
  });

  it("are named there if they can stand in a file", () => {
    const listed = /IN_FILES[^[]*\[\]? = \[([^\]]+)\]/.exec(config)?.[1] ?? "";
    expect(namesIn(page, "`NAME_FILE`")).toEqual(namesIn(listed, '"NAME"'));
  });
});
