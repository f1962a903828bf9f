import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { format } from "prettier";
import { describe, expect, it } from "vitest";
import { mutate } from "./mutate.ts";
import { cellOf, readPage } from "./page.ts";
import { readCode } from "./readCode.ts";
import { readMutations } from "./readMutations.ts";

const ROOT = join(import.meta.dirname, "../..");
const MIN_MUTATIONS = 111;
const mutations = readMutations(ROOT);
const code = readCode(ROOT);

// That each of them is caught is what `npm run mutate` shows; here is only that they can still be tried.
describe("the mutations", () => {
  it("are many, each of them another bug", () => {
    expect(mutations.length).toBeGreaterThanOrEqual(MIN_MUTATIONS);
    expect(new Set(mutations.map(({ bug }) => bug)).size).toBe(mutations.length);
  });

  it.each(mutations)("can be put into the code, which stays a program, and have a check: $bug", async (mutation) => {
    const { file, before, after } = mutate(mutation, code);
    expect(after).not.toBe(before);
    if (file.endsWith(".sol")) await format(after, { parser: "slang", plugins: ["prettier-plugin-solidity"] });
    else stripTypeScriptTypes(after);
  });

  it("stand on the page, each with what caught it", () => {
    const page = readPage(ROOT);
    expect([...page.keys()]).toEqual(mutations.map(({ bug }) => cellOf(bug)));
    expect([...page.values()]).not.toContain("");
  });
});
