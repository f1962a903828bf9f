import { basename, dirname, join } from "node:path";
import type { Check } from "./check.ts";

export type TestFile = { file: string; text: string };

// The check where it is today. A test is known by the words of its name, and by the name of its file where it has none.
export function locateCheck(check: Check, tests: readonly TestFile[]): Check {
  if (check.kind === "simulator") return check;
  const named = check.kind === "vitest" ? check.named : null;
  const isTest = ({ file }: TestFile) => (check.kind === "vitest") === file.endsWith(".test.ts");
  const fits =
    named === null
      ? ({ file }: TestFile) => basename(file) === basename(check.file)
      : (test: TestFile) => contains(test, named, tests);
  const found = tests.filter((test) => isTest(test) && fits(test)).map(({ file }) => file);
  if (found.includes(check.file)) return check;
  const [only, another] = nearest(found, check.file);
  const sought = named === null ? `a test file ${basename(check.file)}` : `a test with the words "${named}"`;
  if (only === undefined) throw new RangeError(`${sought} is nowhere any more; it was ${check.file}`);
  if (another !== undefined) throw new RangeError(`${sought} is ${only} and ${another}; name the file in caughtBy`);
  return { ...check, file: only };
}

// A list of tests may stand in a file of its own, which the test file imports.
function contains({ file, text }: TestFile, words: string, tests: readonly TestFile[]): boolean {
  if (text.includes(words)) return true;
  const imported = [...text.matchAll(/from "(\.[^"]+)"/g)].map(([, path = ""]) => join(dirname(file), path));
  return tests.some((other) => imported.includes(other.file) && other.text.includes(words));
}

// Of files that fit, those which share most of their path's end with the old one.
function nearest(files: readonly string[], old: string): string[] {
  const shared = (file: string) => {
    const parts = file.split("/").reverse();
    const wanted = old.split("/").reverse();
    const differs = parts.findIndex((part, i) => part !== wanted[i]);
    return differs === -1 ? parts.length : differs;
  };
  const most = Math.max(...files.map(shared));
  return files.filter((file) => shared(file) === most);
}
