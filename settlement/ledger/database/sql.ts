// The little that the verbs need from a database. They are written once, in the SQL that SQLite and PostgreSQL share, with
// $1, $2, … for parameters; what differs between the two is in their drivers and in `Locks`.
export type Value = string | bigint | null;
export type Row = { readonly [column: string]: Value };
export type Param = string | bigint | number | null | List;
export type Column = "TEXT" | "BIGINT" | "INTEGER";
// One column of rows that stand one after the other: every `width`th of the items, from `first` on. For a database that takes arrays.
export type List = {
  readonly column: Column;
  readonly items: readonly Param[];
  readonly first: number;
  readonly width: number;
};

// Both may answer at once or later: SQLite runs in this process, PostgreSQL does not.
export type Sql = {
  all(text: string, params?: readonly Param[]): Row[] | Promise<Row[]>;
  // For thousands of rows: `read` makes of the values of each, in the order of the columns, what is kept of it.
  each<T>(text: string, params: readonly Param[], read: (values: readonly Value[]) => T): T[] | Promise<T[]>;
  // Returns how many rows were changed.
  run(text: string, params?: readonly Param[]): number | Promise<number>;
  // Runs a statement whose answer nobody needs: what comes after it is not held up for it, the commit included. Statements run
  // in the order in which they were given, and if one fails, all of them have.
  send(text: string, params?: readonly Param[]): void;
  locks: Locks;
  // Whether a whole list can be one parameter.
  takesArrays: boolean;
  // An expression for the time in milliseconds by the database's clock: the one that all who share it have in common.
  now: string;
  // Whether that is another clock than this process's.
  hasOwnClock: boolean;
  // An expression for where the data is, by marks that a copy of it does not share: it differs after a restore and after a failover.
  home: string;
};

export type Reader = Pick<Sql, "all" | "takesArrays">;

// What to append to a SELECT so that nobody else changes its rows before the commit. SQLite has one writer and needs none. A SELECT
// with a lock and a LIMIT inside of another statement must be MATERIALIZED: PostgreSQL may otherwise run it once for each row that it
// looks at, and each time it finds others.
export type Locks = { forUpdate: string; skipLocked: string };

// `mayHaveCommitted` is true when an earlier try of the same work lost its connection while it was committing.
export type Attempt = { mayHaveCommitted: boolean };

export type TransactionOptions = {
  // Whether the work may be done again when nobody knows whether it was committed: only if doing it twice is doing it
  // once. Otherwise the caller is told that the ledger is unavailable, and finds out itself.
  repeatable: boolean;
};

export type Database = {
  // Runs the work and commits it. Resolves only when it is on disk; otherwise it throws and nothing has changed, unless the
  // connection was lost while committing.
  transaction<T>(work: (sql: Sql, attempt: Attempt) => Promise<T>, options: TransactionOptions): Promise<T>;
  // Applies migrations under a lock that keeps other processes from doing the same.
  migration(work: (sql: Sql & { script(text: string): void | Promise<void> }) => Promise<void>): Promise<void>;
  // Several reads of one moment.
  snapshot<T>(work: (sql: Reader) => Promise<T>): Promise<T>;
  // How many transactions of one process are worth having on their way at a time.
  writers: number;
  // Sees what was committed, and never waits for a writer.
  read: Reader;
  close(): Promise<void>;
};

// A list of parameters for IN or VALUES. Both databases take tens of thousands in one statement; a chunk stays far below.
export const CHUNK = 500;

export function chunksOf<T>(items: readonly T[], size = CHUNK): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < items.length; start += size) chunks.push(items.slice(start, start + size));
  return chunks;
}

// Chunks of few different lengths, so that few statements must be prepared.
export function evenChunksOf<T>(items: readonly T[]): T[][] {
  let start = 0;
  return evenLengthsOf(items.length).map((length) => {
    start += length;
    return items.slice(start - length, start);
  });
}

// How long those are.
export function evenLengthsOf(count: number): number[] {
  const lengths: number[] = [];
  let left = count;
  for (const length of EVEN_CHUNKS) {
    for (; left >= length; left -= length) lengths.push(length);
  }
  return lengths;
}

// How many more make the last of them a single one.
export function missingIn(count: number): number {
  const left = count % LONGEST_CHUNK;
  return left === 0 ? 0 : 2 ** Math.ceil(Math.log2(left)) - left;
}

const LONGEST_CHUNK = 64;
const EVEN_CHUNKS = [LONGEST_CHUNK, 32, 16, 8, 4, 2, 1];

// "$3, $4, $5" for three parameters from the third on.
export function placeholders(count: number, from = 1): string {
  return Array.from({ length: count }, (_, i) => `$${from + i}`).join(", ");
}

// "($1, $2), ($3, $4)" for two rows of two. Remembered: the same few shapes are needed for every accrual.
export function tuples(rows: number, columns: number): string {
  const shape = rows * MAX_COLUMNS + columns;
  const known = shapes.get(shape);
  if (known !== undefined) return known;
  const text = Array.from({ length: rows }, (_, row) => `(${placeholders(columns, row * columns + 1)})`).join(", ");
  shapes.set(shape, text);
  return text;
}

// "(VALUES (CAST($3 AS BIGINT), $4), …)" for as many keys of charges from the third parameter on. Those of whole chunks are
// remembered.
export function chargeKeys(count: number, from: number): string {
  const shape = count * MAX_COLUMNS + from;
  const known = keyLists.get(shape);
  if (known !== undefined) return known;
  const keys = Array.from({ length: count }, (_, i) => `(CAST($${from + 2 * i} AS BIGINT), $${from + 2 * i + 1})`);
  const text = `(VALUES ${keys.join(", ")})`;
  if (count === CHUNK) keyLists.set(shape, text);
  return text;
}

const MAX_COLUMNS = 100;
// At most one per number of rows in a chunk and table.
const shapes = new Map<number, string>();
// At most one per place in a statement.
const keyLists = new Map<number, string>();
