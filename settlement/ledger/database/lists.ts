import { evenLengthsOf, type Param, placeholders, type Reader, type Row, type Sql, tuples, type Value } from "./sql.ts";

// Lists in statements. PostgreSQL takes each column of a list as one array, so that a list of any length is one statement, which it
// has planned before. SQLite has no arrays: a list is a parameter for each value there, in a few statements of few different lengths.

export type Column = "TEXT" | "BIGINT" | "INTEGER";
export type Statement = { text: string; params: readonly Param[] };

// Rows that are inserted together. What is `derived` follows from the other columns, or is the same in all rows, and is not handed over
// a second time: each parameter takes its time on the way to the database.
export type Insertion = {
  into: string;
  columns: Readonly<Record<string, Column>>;
  derived?: Readonly<Record<string, string>>;
  // What comes behind the rows: ON CONFLICT, RETURNING.
  tail?: string;
};

// `params` has one row after the other.
export function insertionsOf(sql: Reader, insertion: Insertion, params: readonly Param[]): Statement[] {
  const columns = Object.values(insertion.columns);
  if (!sql.takesArrays) return inChunks(columns.length, params, (rows) => valuesOf(insertion, rows));
  return params.length === 0 ? [] : [{ text: selectionOf(insertion), params: arraysOf(columns, params) }];
}

// What is asked of each row of a list, as a table of column1, column2 and so on.
export function askingWith(
  sql: Reader,
  columns: readonly Column[],
  params: readonly Param[],
  ask: (table: string) => string,
): Statement[] {
  if (!sql.takesArrays) {
    return inChunks(columns.length, params, (rows) => ask(`(VALUES ${tuples(rows, columns.length)})`));
  }
  const names = columns.map((_, i) => `column${i + 1}`).join(", ");
  const table = `(SELECT * FROM ${unnest(columns)} AS list (${names}))`;
  return params.length === 0 ? [] : [{ text: ask(table), params: arraysOf(columns, params) }];
}

// What is asked of whatever is `IN` the list.
export function askingWithin(
  sql: Reader,
  column: Column,
  items: readonly Param[],
  ask: (list: string) => string,
): Statement[] {
  if (!sql.takesArrays) return inChunks(1, items, (rows) => ask(`IN (${placeholders(rows)})`));
  return items.length === 0
    ? []
    : [{ text: ask(`= ANY (CAST($1 AS ${column}[]))`), params: arraysOf([column], items) }];
}

// All asked in one go: the database takes them in their order, and one answer is waited for.
export async function allOf(sql: Reader, statements: readonly Statement[]): Promise<Row[]> {
  const answers = await Promise.all(statements.map(({ text, params }) => sql.all(text, params)));
  return answers.length === 1 ? (answers[0] as Row[]) : answers.flat();
}

// The same where the rows are of one value.
export async function firstOfAll(sql: Pick<Sql, "each">, statements: readonly Statement[]): Promise<Value[]> {
  const first = ([value = null]: readonly Value[]) => value;
  const answers = await Promise.all(statements.map(({ text, params }) => sql.each(text, params, first)));
  return answers.length === 1 ? (answers[0] as Value[]) : answers.flat();
}

export function sendAll(
  { send }: { send(text: string, params: readonly Param[]): void },
  statements: readonly Statement[],
): void {
  for (const { text, params } of statements) send(text, params);
}

function inChunks(width: number, params: readonly Param[], text: (rows: number) => string): Statement[] {
  let start = 0;
  return evenLengthsOf(params.length / width).map((rows) => {
    const end = start + rows * width;
    const chunk = { text: text(rows), params: params.slice(start, end) };
    start = end;
    return chunk;
  });
}

// Remembered, as what follows is: there are few, and each is asked for again and again.
function valuesOf(insertion: Insertion, rows: number): string {
  return remembered(insertion, rows, () => {
    const { columns, derived = {}, tail = "" } = insertion;
    const names = Object.keys(columns);
    const width = names.length;
    const parameterOf = (row: number, name: string) => `$${row * width + names.indexOf(name) + 1}`;
    const written = (row: number, value: string) => (names.includes(value) ? parameterOf(row, value) : value);
    const values = Array.from({ length: rows }, (_, row) => {
      const own = [...names, ...Object.values(derived)].map((value) => written(row, value));
      return `(${own.join(", ")})`;
    });
    return `${headOf(insertion)} VALUES ${values.join(", ")} ${tail}`;
  });
}

function selectionOf(insertion: Insertion): string {
  return remembered(insertion, 0, () => {
    const { columns, derived = {}, tail = "" } = insertion;
    const names = Object.keys(columns);
    const values = [...names, ...Object.values(derived)].join(", ");
    const source = `${unnest(Object.values(columns))} AS list (${names.join(", ")})`;
    return `${headOf(insertion)} SELECT ${values} FROM ${source} ${tail}`;
  });
}

const headOf = ({ into, columns, derived = {} }: Insertion) =>
  `INSERT INTO ${into} (${[...Object.keys(columns), ...Object.keys(derived)].join(", ")})`;

const texts = new Map<Insertion, Map<number, string>>();

function remembered(insertion: Insertion, rows: number, make: () => string): string {
  const ofInsertion = texts.get(insertion) ?? new Map<number, string>();
  const text = ofInsertion.get(rows) ?? make();
  texts.set(insertion, ofInsertion.set(rows, text));
  return text;
}

const unnest = (columns: readonly Column[]) =>
  `unnest(${columns.map((column, i) => `CAST($${i + 1} AS ${column}[])`).join(", ")})`;

// The columns of a list, as PostgreSQL writes arrays.
function arraysOf(columns: readonly Column[], params: readonly Param[]): string[] {
  const width = columns.length;
  return columns.map((column, first) => {
    const write = column === "TEXT" ? quoted : String;
    let array = "{";
    for (let i = first; i < params.length; i += width) {
      const param = params[i] ?? null;
      array += `${i === first ? "" : ","}${param === null ? "NULL" : write(param)}`;
    }
    return `${array}}`;
  });
}

const SPECIAL = /["\\]/g;

function quoted(param: Param): string {
  const text = String(param);
  return `"${text.includes('"') || text.includes("\\") ? text.replaceAll(SPECIAL, "\\$&") : text}"`;
}
