import { expect, it } from "vitest";
import { readGroup } from "./readGroup.ts";

it("all checks run, those of a group, or service tests of some files", () => {
  expect(readGroup([])).toEqual({ group: null, filters: [] });
  expect(readGroup(["lint"])).toEqual({ group: "lint", filters: [] });
  expect(readGroup(["service", "settlement/engine"])).toEqual({ group: "service", filters: ["settlement/engine"] });
});

it.each([
  [["liint"], "there is no group liint"],
  [["lint", "contracts"], "only service tests can be limited to files"],
  [["--seeds"], "there is no option --seeds"],
])("%j is mistyped, and said to be so before anything runs", (args, reason) => {
  expect(() => readGroup(args)).toThrow(reason);
});
