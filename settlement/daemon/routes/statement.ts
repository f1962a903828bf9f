import { z } from "zod";
import type { Place, StatementQuery } from "../../domain/charges/statement.ts";
import * as field from "../http/fields.ts";
import type { Answered, AnsweredText } from "../http/route.ts";

type Cell = string | number | null;
type Line = Readonly<Record<string, Cell>>;

// The newest moment that a database and a date can hold.
const END_OF_TIME_MS = 8_640_000_000_000_000;
const CURSOR_PATTERN = /^(\d{1,16})\.(0x[0-9a-f]+)$/;

export const cursor = z.string().transform((text, context): Place => {
  const [, atMs, id] = CURSOR_PATTERN.exec(text) ?? [];
  if (atMs !== undefined && id !== undefined) return { atMs: Number(atMs), id };
  context.addIssue({ code: "custom", message: "must be the `next` of an earlier page" });
  return z.NEVER;
});

export const statementQuery = z
  .strictObject({
    from: field.time.optional(),
    to: field.time.optional(),
    after: cursor.optional(),
    limit: field.limit,
    format: z.enum(["json", "csv"], 'must be "json" or "csv"').optional(),
  })
  .transform(({ from = 0, to = END_OF_TIME_MS, after = null, limit, format = "json" }) => ({
    fromMs: from,
    toMs: to,
    after,
    limit,
    format,
  }));

// What a statement answers: one page of lines, as JSON or as CSV.
export const statementAnswer = <A extends z.ZodRawShape, L extends z.ZodType>(about: A, name: string, line: L) => ({
  answer: z.object({ ...about, [name]: z.array(line), next: z.string().nullable() }),
  textTypes: ["text/csv"],
});

// One page. `next` leads to the following one and is null when there is none; in CSV it is a header. The types do not follow a
// field whose name is a variable; that the body is what `statementAnswer` says is compared in tests, like every answer.
export function answerStatement(
  about: Readonly<Record<string, string>>,
  name: string,
  lines: readonly Line[],
  places: readonly Place[],
  { limit, format }: StatementQuery & { format: "json" | "csv" },
): Answered<never> | AnsweredText {
  const last = lines.length === limit ? places.at(-1) : undefined;
  const next = last === undefined ? null : `${last.atMs}.${last.id}`;
  if (format === "json") return { body: { ...about, [name]: lines, next } as never };
  return { text: csvOf(lines), contentType: "text/csv; charset=utf-8", ...(next && { headers: { "x-next": next } }) };
}

// RFC 4180. A cell that a spreadsheet would take for a formula gets an apostrophe, which makes it a text.
export function csvOf(lines: readonly Line[]): string {
  const [first] = lines;
  if (first === undefined) return "";
  return [Object.keys(first), ...lines.map(Object.values<Cell>)]
    .map((row) => `${row.map(cellOf).join(",")}\r\n`)
    .join("");
}

function cellOf(cell: Cell): string {
  const text = String(cell ?? "");
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
