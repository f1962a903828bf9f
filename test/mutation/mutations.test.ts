import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { applied } from "./mutation.ts";
import { mutations } from "./mutations/index.ts";
import { cellOf, readPage } from "./page.ts";

const ROOT = join(import.meta.dirname, "../..");

// That each of them is caught is what `npm run mutate` shows; here is only that they can still be tried.
describe("the mutations", () => {
  it("are at least thirty, each of them another bug", () => {
    expect(mutations.length).toBeGreaterThanOrEqual(30);
    expect(new Set(mutations.map(({ bug }) => bug)).size).toBe(mutations.length);
  });

  it.each(mutations)("can be put into the code: $bug", (mutation) => {
    const text = readFileSync(join(ROOT, mutation.file), "utf8");
    expect(applied(mutation, text)).not.toBe(text);
  });

  it.each(mutations)("have a check that is there: $bug", ({ caughtBy }) => {
    if (caughtBy.kind !== "simulator") expect(existsSync(join(ROOT, caughtBy.file)), caughtBy.file).toBe(true);
  });

  it("stand on the page, each with what caught it", () => {
    const page = readPage(ROOT);
    expect([...page.keys()]).toEqual(mutations.map(({ bug }) => cellOf(bug)));
    expect([...page.values()]).not.toContain("");
  });

  it("are not put into code that has changed", () => {
    const [mutation] = mutations;
    if (mutation === undefined) throw new RangeError("there is no mutation");
    expect(() => applied(mutation, "")).toThrow("the code changed, adjust the mutation");
    expect(() => applied(mutation, `${mutation.find} ${mutation.find}`)).toThrow("stands 2 times");
  });
});
