import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { readAssets } from "./readAssets.ts";

it("serves JavaScript: types are taken out, imports stay, and the page names the version of its files", () => {
  const { page, files, version } = readAssets();
  expect(page.body).toContain(`/console/${version}/main.ts`);
  expect(page.body).not.toContain("{version}");
  const main = files.get("main.ts");
  expect(main?.contentType).toBe("text/javascript; charset=utf-8");
  expect(main?.body).toContain('from "./api/poll.ts"');
  for (const [path, { body }] of files) {
    if (path.endsWith(".ts")) expect(body).not.toMatch(/^import type/m);
  }
});

it("has no file from elsewhere, no inline script, and nothing but what a browser needs", () => {
  const { page, files } = readAssets();
  expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//);
  expect(page.body).not.toMatch(/<script(?![^>]*src=)|<style|style=|onclick=/);
  expect([...files.keys()].filter((path) => !/\.(ts|css|svg)$/.test(path))).toEqual([]);
  for (const [path, { body }] of files) {
    if (path.endsWith(".ts"))
      expect(body, path).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
  }
});

it("prints no warning", () => {
  const program =
    'import("./settlement/console/readAssets.ts").then(({ readAssets }) => readAssets().files.get("main.ts").body.length)';
  const run = spawnSync("node_modules/.bin/node", ["-e", program], { encoding: "utf8" });
  expect(run).toMatchObject({ status: 0, stderr: "" });
});
