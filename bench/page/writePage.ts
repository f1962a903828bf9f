import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lineChart } from "../charts/lineChart.ts";
import type { Results } from "./chapter.ts";
import { chapters } from "./chapters/index.ts";
import { describeCommit, describeMachine } from "./describeMachine.ts";
import { page } from "./page.ts";

const RESULTS = "docs/benchmarks.json";

export const readResults = (): Results => JSON.parse(readFileSync(RESULTS, "utf8"));

// Everything the page consists of, by its path. From the same results it is always the same.
export function filesOf(results: Results): Record<string, string> {
  const drawings = chapters.flatMap(({ name, charts }) => {
    const result = results[name];
    return result === undefined ? [] : Object.entries(charts?.(result.measured) ?? {});
  });
  return {
    ...Object.fromEntries(drawings.map(([name, chart]) => [join("docs", "charts", `${name}.svg`), lineChart(chart)])),
    "docs/benchmarks.md": page(results),
  };
}

// Measures the named chapters, or all of them, and writes the page after each, so that what was measured is kept whatever
// happens to the next.
export async function writePage(name?: string): Promise<string[]> {
  // Before anything is measured: whoever works on while this runs changes nothing that is measured.
  const about = { date: new Date().toISOString().slice(0, 10), commit: describeCommit(), machine: describeMachine() };
  let written: string[] = [];
  for (const chapter of chapters.filter((candidate) => name === undefined || candidate.name === name)) {
    console.error(`${chapter.name} …`);
    const measured = await chapter.measure();
    const results = { ...readResults(), [chapter.name]: { ...about, measured } };
    const files = { [RESULTS]: `${JSON.stringify(results, undefined, 2)}\n`, ...filesOf(results) };
    mkdirSync("docs/charts", { recursive: true });
    for (const [path, content] of Object.entries(files)) writeFileSync(path, content);
    written = Object.keys(files);
  }
  return written;
}
