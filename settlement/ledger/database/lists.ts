import {
  type Column,
  evenLengthsOf,
  type List,
  missingIn,
  type Param,
  placeholders,
  type Reader,
  type Row,
  type Sql,
  tuples,
  type Value,
} from "./sql.ts";

// Lists in statements. PostgreSQL takes each column of a list as one array, so that a list of any length is one statement, which it
// has planned before. SQLite has no arrays: a list is a parameter for each value there, in a few statements of few different lengths.

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
    const text = (rows: number) => remembered(ask, rows, () => ask(`(VALUES ${tuples(rows, columns.length)})`));
    return inChunks(columns.length, params, text);
  }
  if (params.length === 0) return [];
  const text = remembered(ask, 0, () => {
    const names = columns.map((_, i) => `column${i + 1}`).join(", ");
    return ask(`(SELECT * FROM ${unnest(columns)} AS list (${names}))`);
  });
  return [{ text, params: arraysOf(columns, params) }];
}

// What is asked of whatever is `IN` the list.
export function askingWithin(
  sql: Reader,
  column: Column,
  items: readonly Param[],
  ask: (list: string) => string,
): Statement[] {
  if (items.length === 0) return [];
  if (!sql.takesArrays) {
    // Whatever is twice in a list is in it once: the last item fills it up, and one statement asks instead of several.
    const filled = [...items, ...Array<Param>(missingIn(items.length)).fill(items.at(-1) as Param)];
    return inChunks(1, filled, (rows) => remembered(ask, rows, () => ask(`IN (${placeholders(rows)})`)));
  }
  const text = remembered(ask, 0, () => ask(`= ANY (CAST($1 AS ${column}[]))`));
  return [{ text, params: arraysOf([column], items) }];
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

function valuesOf(insertion: Insertion, rows: number): string {
  return remembered(insertion, rows, () => {
    const { columns, derived = {}, tail = "" } = insertion;
    const names = Object.keys(columns);
    const width = names.length;
    const follows = (value: string) => names.includes(value);
    // What follows from another column is taken from there: handed over twice, it would be bound and copied twice.
    if (tail === "" && Object.values(derived).some(follows)) {
      const written = (value: string) => (follows(value) ? `column${names.indexOf(value) + 1}` : value);
      const selected = [...names, ...Object.values(derived)].map(written).join(", ");
      return `${headOf(insertion)} SELECT ${selected} FROM (VALUES ${tuples(rows, width)})`;
    }
    const parameterOf = (row: number, name: string) => `$${row * width + names.indexOf(name) + 1}`;
    const written = (row: number, value: string) => (follows(value) ? parameterOf(row, value) : value);
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

// Texts are remembered by what they are made of and for how many rows: there are few, and each is asked for again and again.
const texts = new WeakMap<object, Map<number, string>>();

function remembered(maker: object, rows: number, make: () => string): string {
  let ofMaker = texts.get(maker);
  if (ofMaker === undefined) {
    ofMaker = new Map();
    texts.set(maker, ofMaker);
  }
  let text = ofMaker.get(rows);
  if (text === undefined) {
    text = make();
    ofMaker.set(rows, text);
  }
  return text;
}

const unnest = (columns: readonly Column[]) =>
  `unnest(${columns.map((column, i) => `CAST($${i + 1} AS ${column}[])`).join(", ")})`;

function arraysOf(columns: readonly Column[], items: readonly Param[]): List[] {
  const width = columns.length;
  return columns.map((column, first) => ({ column, items, first, width }));
}
