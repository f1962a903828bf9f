import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { charts } from "./charts.ts";
import type { Measured } from "./measureAll.ts";
import { page } from "./page.ts";

export const RESULTS = "docs/benchmarks.json";

// Everything the page consists of, by its path. From the same results it is always the same.
export function filesOf(measured: Measured): Record<string, string> {
  const drawings = Object.entries(charts(measured)).map(([name, svg]) => [join("docs", "charts", name), svg]);
  return { ...Object.fromEntries(drawings), "docs/benchmarks.md": page(measured) };
}

export function writePage(measured: Measured): string[] {
  const files = { [RESULTS]: `${JSON.stringify(measured, undefined, 2)}\n`, ...filesOf(measured) };
  mkdirSync("docs/charts", { recursive: true });
  for (const [path, content] of Object.entries(files)) writeFileSync(path, content);
  return Object.keys(files);
}
