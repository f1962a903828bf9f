import { createHash } from "node:crypto";
import type { Writable } from "node:stream";
import pg from "pg";
import { SettlementError } from "../../../domain/errors.ts";
import type { Param, Value } from "../sql.ts";
import { bind, close, DESCRIBE, EXECUTE, parse, SYNC } from "./messages.ts";
import { unlessSilent } from "./silence.ts";
import { wireOf } from "./wire.ts";

// What is said on one connection. Statements that follow one another without anybody waiting in between go in one burst, which the
// server answers in one piece: an answer of its own for each costs both sides as much as a small statement does. They run in their
// order, and after one that fails the server passes over the others of its burst.
export type Conversation = {
  // Goes with whatever else is asked before anything else can run. Its rows are described, so that they can be read.
  ask(text: string, params?: readonly Param[]): Promise<Answer>;
  // How many rows it has changed.
  run(text: string, params?: readonly Param[]): Promise<number>;
  // Goes with what is asked next.
  send(text: string, params?: readonly Param[]): Promise<unknown>;
  // Several statements without parameters.
  script(text: string): Promise<void>;
  // What has not gone yet never will.
  giveUp(error: unknown): void;
};

export type Answer = {
  columns: readonly string[];
  rows: readonly (readonly Value[])[];
  // "COMMIT", or with how many rows: "INSERT 0 64".
  command: string;
};

// What `pg` throws for a lost connection has no type and no code, so it is given one where it appears: whatever fails
// without an answer of the server, be it refused, cut or late.
export class ConnectionLost extends Error {}

export async function answered<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof pg.DatabaseError || error instanceof SettlementError) throw error;
    throw new ConnectionLost(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

const CHANGED = / (\d+)$/;

type Question = {
  text: string;
  name: string | null;
  // The message with what it is asked with.
  bound: string;
  hasRows: boolean;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};

export function createConversation(client: pg.ClientBase, config: pg.ClientConfig): Conversation {
  let pending: Question[] = [];
  let isDue = false;

  function say(text: string, params: readonly Param[], hasRows: boolean): Promise<Answer> {
    // What cannot be said is the asker's mistake, and is so before anything is.
    return new Promise((resolve, reject) => {
      const name = nameOf(text, params.length);
      pending.push({ text, name, bound: bind(name ?? "", params), hasRows, resolve, reject });
    });
  }

  function whenAllIsAsked(): void {
    if (isDue) return;
    isDue = true;
    process.nextTick(() => {
      isDue = false;
      flush();
    });
  }

  function flush(): void {
    if (pending.length === 0) return;
    const questions = pending;
    pending = [];
    answered(unlessSilent(client, config, putTo(client, questions))).then(
      (answers) => {
        for (const [i, { resolve }] of questions.entries()) resolve(answers[i] as Answer);
      },
      (error) => {
        for (const { reject } of questions) reject(error);
      },
    );
  }

  return {
    ask(text, params = []) {
      whenAllIsAsked();
      return say(text, params, true);
    },
    async run(text, params = []) {
      whenAllIsAsked();
      const { command } = await say(text, params, false);
      return Number(CHANGED.exec(command)?.[1] ?? 0);
    },
    send: (text, params = []) => say(text, params, false),
    async script(text) {
      flush();
      await answered(unlessSilent(client, config, client.query(text)));
    },
    giveUp(error) {
      for (const { reject } of pending) reject(error);
      pending = [];
    },
  };
}

// Asks all in one burst and resolves once all are answered. `pg` takes nothing but its own queries on a connection that does not wait
// for answers, so this is one of them that writes, and reads, on its own.
function putTo(client: pg.ClientBase, questions: readonly Question[]): Promise<Answer[]> {
  const statements = statementsOn(client);
  const answers: Answer[] = [];
  // From here on it is not known whether the server has them.
  const parsed: [position: number, name: string][] = [];
  let [columns, readers, rows]: [string[], Reader[], Value[][]] = [[], [], []];
  return new Promise((resolve, reject) => {
    const burst = Object.assign(new pg.Query(""), {
      submit(connection: Wire) {
        let said = "";
        for (const [position, { text, name, bound, hasRows }] of questions.entries()) {
          if (name === null || statements.get(name) !== "known") {
            // One that may be there is taken away first: of none that is, this takes nothing.
            if (name !== null && statements.has(name)) said += close(name);
            said += parse(name ?? "", text);
            if (name !== null) parsed.push([position, name]);
            if (name !== null) statements.set(name, "known");
          }
          said += bound;
          if (hasRows) said += DESCRIBE;
          said += EXECUTE;
        }
        // One that is gone is heard of elsewhere.
        if (connection.stream.writable) connection.stream.write(said + SYNC, "latin1");
        return null;
      },
      handleRowDescription({ fields }: { fields: readonly { name: string; dataTypeID: number }[] }) {
        columns = fields.map(({ name }) => name);
        readers = fields.map(({ dataTypeID }) => readerOf(dataTypeID));
      },
      handleDataRow({ fields }: { fields: readonly (string | null)[] }) {
        const row = new Array<Value>(fields.length);
        for (let i = 0; i < fields.length; i++) {
          const raw = fields[i] ?? null;
          row[i] = raw === null ? null : (readers[i] as Reader)(raw);
        }
        rows.push(row);
      },
      handleCommandComplete({ text }: { text: string }) {
        answers.push({ columns, rows, command: text });
        [columns, readers, rows] = [[], [], []];
      },
      handleError(error: unknown) {
        for (const [position, name] of parsed) if (position >= answers.length) statements.set(name, "doubtful");
        reject(error);
      },
      handleReadyForQuery: () => resolve(answers),
    });
    client.query(burst);
  });
}

// As `pg` has it, and its types do not.
type Wire = { stream: Writable };

type Reader = (raw: string) => Value;

const INT8 = 20;
const INT4 = 23;

// Every integer is a bigint, as from SQLite.
const readerOf = (oid: number): Reader => (oid === INT8 || oid === INT4 ? BigInt : pg.types.getTypeParser(oid, "text"));

// The statements with a name that a server has of a connection.
type Statements = Map<string, "known" | "doubtful">;
const known = new WeakMap<object, Statements>();

function statementsOn(client: pg.ClientBase): Statements {
  const { connection } = wireOf(client);
  const statements: Statements = known.get(connection) ?? new Map();
  known.set(connection, statements);
  return statements;
}

const MAX_NAMED_STATEMENTS = 200;
const statementNames = new Map<string, string>();

// A statement with a name is planned once per connection, and stays there for as long as the connection does. So this is no
// cache that forgets: the first texts are the verbs', and lists of every length, which come after them, go without a name.
// What has no parameters is short.
function nameOf(text: string, parameters: number): string | null {
  if (parameters === 0) return null;
  const before = statementNames.get(text);
  if (before !== undefined) return before;
  if (statementNames.size >= MAX_NAMED_STATEMENTS) return null;
  const name = createHash("sha256").update(text).digest("hex").slice(0, 32);
  statementNames.set(text, name);
  return name;
}
