export const whole = (value: number) => Math.round(value).toLocaleString("en-US");
export const exact = (value: number) => value.toLocaleString("en-US", { maximumFractionDigits: 4 });
export const fine = (value: number) => (value >= 1_000 ? whole(value) : value.toFixed(2));

// Values by the names that they have in the benchmark's JSON.
export const named = (rows: readonly (readonly [string, string, string])[]) =>
  table(
    ["name", "value", "what it is"],
    rows.map(([name, value, meaning]) => [`\`${name}\``, value, meaning]),
  );

// A table with its columns padded, numbers to the right.
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(name.length, 4, ...rows.map((row) => row[column]?.length ?? 0)));
  const numeric = head.map((_, column) => rows.every((row) => /^[\d.,\s]+$/.test(row[column] ?? "")));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (numeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, i) => (numeric[i] ? `${"-".repeat(width - 1)}:` : "-".repeat(width)));
  return [line(head), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n");
}
