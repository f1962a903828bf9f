import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";

const pages = globSync(["*.md", ".github/**/*.md", "{docs,deployments}/**/*.md"]).sort();
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

// Words in code that begin with one of these are paths of this repository.
const FOLDERS =
  /^(\.github|bench|contracts|deployments|docs|examples|marketplace|scripts|settlement|test|typechain-types)\//;
// What stands for many names, and what a command writes, is not there.
const NOT_A_FILE = /[*<>{}…]|NNNN|^deployments\/(local|base)/;

describe.each(pages)("%s", (page) => {
  const text = readFileSync(page, "utf8");

  it("links to files that are there", () => {
    const missing = linksOf(text).filter(({ file }) => !existsSync(join(dirname(page), file)));
    expect(missing).toEqual([]);
  });

  it("links to headings that are there", () => {
    const missing = linksOf(text).filter(({ file, heading }) => {
      const target = file === "" ? page : join(dirname(page), file);
      return heading !== undefined && target.endsWith(".md") && !headingsOf(target).includes(heading);
    });
    expect(missing).toEqual([]);
  });

  it("names paths that are there", () => {
    const missing = wordsOf(text).filter((word) => FOLDERS.test(word) && !NOT_A_FILE.test(word) && !existsSync(word));
    expect(missing).toEqual([]);
  });

  it("names scripts that package.json has", () => {
    const named = [...text.matchAll(/npm run (?:--silent )?([a-z]+(?::[a-z]+)*)/g)].map(([, name = ""]) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

it("docs/README.md lists every page of docs", () => {
  const listed = linksOf(readFileSync("docs/README.md", "utf8")).map(({ file }) => file);
  const missing = globSync("*.md", { cwd: "docs" }).filter((page) => page !== "README.md" && !listed.includes(page));
  expect(missing).toEqual([]);
});

// The words of code, in a line or in a block of its own, without the quotes and brackets around them.
function wordsOf(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```[^\n]*\n(.*?)^ *```$/gms)].map(([, code = ""]) => code);
  const spans = [...text.replace(/^ *```.*?^ *```$/gms, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
  return [...blocks, ...spans].flatMap((code) => code.split(/[\s"'()=,;]+/)).map((word) => word.replace(/:\d+$/, ""));
}

type Link = { file: string; heading: string | undefined };

function linksOf(text: string): Link[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = "", heading] = target.split("#");
      return { file, heading };
    });
}

// As GitHub makes an anchor of a heading: lower case, no punctuation, hyphens for spaces.
function headingsOf(page: string): string[] {
  const headings = readFileSync(page, "utf8").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
