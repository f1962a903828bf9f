import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const namesIn = (paths: readonly string[], pattern: RegExp) =>
  [
    ...new Set(paths.flatMap((path) => [...readFileSync(path, "utf8").matchAll(pattern)]).map(([, name]) => name)),
  ].sort();

it("the page of invariants names every invariant that is tested, and no other", () => {
  const tested = namesIn(globSync("test/solidity/*.t.sol"), /function (invariant_\w+)/g);
  expect(tested.length).toBeGreaterThan(0);
  expect(namesIn(["docs/invariants.md"], /`(invariant_\w+)`/g)).toEqual(tested);
});
