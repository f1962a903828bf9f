import { describe, expect, it } from "vitest";
import { readPatch, writePatch } from "./patch.ts";

const PATCH = `bug: The second line is another
caughtBy: vitest run lines.test.ts -t "the second"
brings: zwei

--- a/lines.ts
+++ b/lines.ts
@@ -1,3 +1,3 @@
 one
-two
+zwei
 three
`;
const fields = {
  bug: "The second line is another",
  caughtBy: 'vitest run lines.test.ts -t "the second"',
  brings: ["zwei"],
};
const before = "one\ntwo\nthree\nfour\n";

describe("a patch", () => {
  it("is read as the lines before and after, and what is known about them", () => {
    const change = { file: "lines.ts", before: "one\ntwo\nthree\n", after: "one\nzwei\nthree\n" };
    expect(readPatch(PATCH)).toEqual({ ...fields, change });
  });

  it("is written as it is read", () => {
    expect(writePatch(fields, { file: "lines.ts", before, after: before.replace("two", "zwei") }, 1)).toBe(PATCH);
  });

  it("has as many lines around the change as there are", () => {
    const patch = writePatch(fields, { file: "lines.ts", before, after: before.replace("four\n", "") }, 9);
    expect(patch).toContain("@@ -1,4 +1,3 @@\n one\n two\n three\n-four\n");
  });

  it("says what it lacks", () => {
    expect(() => readPatch(PATCH.replace("bug:", "Bug:"))).toThrow('no line that begins with "bug: "');
    expect(() => readPatch(PATCH.replace("--- a/", "--- "))).toThrow("names a file");
    expect(() => readPatch(`${PATCH}@@ -9,1 +9,1 @@\n-nine\n+neun\n`)).toThrow("it changes 2 places");
  });
});
