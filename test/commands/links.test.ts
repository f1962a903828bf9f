import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const pages = globSync(["*.md", "{docs,deployments}/*.md"]).sort();

it.each(pages)("every file that %s links to is there", (page) => {
  const targets = [...readFileSync(page, "utf8").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  const files = targets.filter((target) => !/^([a-z]+:|#)/.test(target)).map((target) => target.split("#")[0] ?? "");
  expect(files.filter((file) => !existsSync(join(dirname(page), file)))).toEqual([]);
});
