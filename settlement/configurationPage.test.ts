import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

it("the page of settings has a line for every setting and for nothing else", () => {
  const settings = new Set(
    read("./config.ts")
      .match(/^ {2}(SETTLEMENT_\w+)(?=:)/gm)
      ?.map((name) => name.trim()),
  );
  const documented = new Set(
    [...read("../docs/configuration.md").matchAll(/^\| `(SETTLEMENT_\w+)`/gm)].map(([, name]) => name),
  );
  expect([...documented].sort()).toEqual([...settings].sort());
});

it("the page of settings names every setting that can stand in a file", () => {
  const listed = /IN_FILES[^[]*\[\]? = \[([^\]]+)\]/.exec(read("./config.ts"))?.[1]?.match(/SETTLEMENT_\w+/g);
  const documented = read("../docs/configuration.md").match(/`SETTLEMENT_\w+_FILE`/g) ?? [];
  expect(documented.sort()).toEqual(listed?.map((name) => `\`${name}_FILE\``).sort());
});
