export type Value = number | string;

type Row = { readonly [column: string]: Value };

// What a benchmark found: single values, several of one kind by their names, and lists of rows where one value depends on another.
export type Result = { readonly [name: string]: Value | Row | readonly Row[] };

// The table for people: a value per line, then each list in columns under its name.
export function printResult(result: Result): void {
  const lines: Value[][] = [];
  const lists: string[] = [];
  for (const [name, value] of Object.entries(result)) {
    if (typeof value !== "object") lines.push([name, value]);
    else if (!isList(value)) for (const [kind, own] of Object.entries(value)) lines.push([`${name}.${kind}`, own]);
    else lists.push(`\n${name}\n${align([Object.keys(value[0] ?? {}), ...value.map(Object.values)])}`);
  }
  console.log([align(lines), ...lists].join("\n"));
}

const isList = (value: Row | readonly Row[]): value is readonly Row[] => Array.isArray(value);

// Pads every column to its widest cell: on the right if it holds numbers, so that their digits line up.
function align(rows: Value[][]): string {
  const cells = rows.map((row) => row.map(format));
  const columns = (rows.at(-1) ?? []).map((sample, column) => ({
    width: Math.max(...cells.map((row) => row[column]?.length ?? 0)),
    numeric: typeof sample === "number",
  }));
  const pad = (cell: string, { width, numeric }: { width: number; numeric: boolean }) =>
    numeric ? cell.padStart(width) : cell.padEnd(width);
  return cells.map((row) => columns.map((column, i) => pad(row[i] ?? "", column)).join("  ")).join("\n");
}

const format = (value: Value) =>
  typeof value === "number" ? value.toLocaleString("en-US", { maximumFractionDigits: 6 }) : value;
