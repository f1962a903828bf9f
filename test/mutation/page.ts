import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Mutation } from "./readMutations.ts";

const PAGE = "docs/mutations.md";
const BEGIN = "<!-- Written by npm run mutate: what stands below is replaced. -->";

// What caught each bug, as the page has it. The page names the patches, which say where a bug is and what the check is: it
// stays as it is when code moves.
export function readPage(root: string): Map<string, string> {
  const [, tables = ""] = readFileSync(join(root, PAGE), "utf8").split(BEGIN);
  const rows = tables.matchAll(/^\| \[(?<bug>.+?)\]\(\S+\) +\| (?<by>.*?) +\|$/gm);
  return new Map([...rows].map(({ groups }) => [groups?.bug ?? "", groups?.by ?? ""]));
}

// Brings the rows of those bugs up to date that were caught now, and leaves out what is no bug of the list any more. What
// stands above the tables is written by hand.
export function writePage(root: string, mutations: readonly Mutation[], caught: ReadonlyMap<string, string>): void {
  const path = join(root, PAGE);
  const [introduction = ""] = readFileSync(path, "utf8").split(BEGIN);
  const known = readPage(root);
  const tables = [...Map.groupBy(mutations, ({ subject }) => subject)].map(([subject, bugs]) => {
    const rows = bugs.flatMap(({ bug, path: patch }) => {
      const by = caught.has(bug) ? cellOf(caught.get(bug) ?? "") : known.get(cellOf(bug));
      return by === undefined ? [] : [[`[${cellOf(bug)}](${relative("docs", patch)})`, by]];
    });
    return `## ${subject[0]?.toUpperCase()}${subject.slice(1)}\n\n${tableOf(["bug", "caught by"], rows)}`;
  });
  writeFileSync(path, `${introduction.trim()}\n\n${BEGIN}\n\n${tables.join("\n")}`);
}

// With columns of even width, as the formatter wants them.
function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const lineOf = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  const ruler = widths.map((width) => "-".repeat(width));
  return `${[head, ruler, ...rows].map(lineOf).join("\n")}\n`;
}

export const cellOf = (text: string) => text.replaceAll("|", "/").replaceAll(/\s+/g, " ").trim();
