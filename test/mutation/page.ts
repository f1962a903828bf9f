import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Mutation, nameOf } from "./mutation.ts";

const PAGE = "docs/mutations.md";
const BEGIN = "<!-- Written by npm run mutate: what stands below is replaced. -->";
const CAUGHT_BY = 2;

// What caught each bug, as the page has it.
export function readPage(root: string): Map<string, string> {
  const [, table = ""] = readFileSync(join(root, PAGE), "utf8").split(BEGIN);
  const rows = table.split("\n").filter((line) => line.startsWith("|"));
  // The head of the table and the line below it are no bugs.
  return new Map(
    rows.slice(2).map((row) => {
      const cells = row.slice(1, -1).split(" | ");
      return [(cells[0] ?? "").trim(), (cells[CAUGHT_BY] ?? "").trim()];
    }),
  );
}

// Brings the rows of those bugs up to date that were caught now, and leaves out what is no bug of the list any more. What
// stands above the table is written by hand.
export function writePage(root: string, mutations: readonly Mutation[], caught: ReadonlyMap<string, string>): void {
  const path = join(root, PAGE);
  const [introduction = ""] = readFileSync(path, "utf8").split(BEGIN);
  const known = readPage(root);
  const rows = mutations.flatMap(({ bug, file, caughtBy }) => {
    const by = caught.has(bug) ? cellOf(caught.get(bug) ?? "") : known.get(cellOf(bug));
    if (by === undefined) return [];
    return [[cellOf(bug), `[${file}](../${file})`, by, `\`${cellOf(nameOf(caughtBy))}\``]];
  });
  writeFileSync(path, `${introduction.trim()}\n\n${BEGIN}\n\n${tableOf(["bug", "where", "caught by", "check"], rows)}`);
}

// With columns of even width, as the formatter wants them.
function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const lineOf = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  const ruler = widths.map((width) => "-".repeat(width));
  return `${[head, ruler, ...rows].map(lineOf).join("\n")}\n`;
}

export const cellOf = (text: string) => text.replaceAll("|", "/").replaceAll(/\s+/g, " ").trim();
