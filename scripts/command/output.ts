import { stdout } from "node:process";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

export type Row = readonly [label: string, value: string];

// Where a command speaks. People get sentences and aligned rows; machines get one JSON document at the end and nothing
// else on standard output.
export type Output = {
  json: boolean;
  say(sentence: string): void;
  rows(rows: readonly Row[]): void;
  // A line that replaces itself while something is awaited; returns what ends it.
  progress(text: string): () => void;
  result(document: Json): void;
  fail(sentence: string, details?: { [key: string]: Json }): void;
};

const TICK_MS = 1_000;

export function createOutput(json: boolean): Output {
  return json ? forMachines() : forPeople();
}

function forPeople(): Output {
  return {
    json: false,
    say: (sentence) => console.log(sentence),
    rows: (rows) => {
      const width = Math.max(...rows.map(([label]) => label.length));
      for (const [label, value] of rows) console.log(`  ${label.padEnd(width)}  ${value}`);
    },
    progress,
    result: () => {},
    fail: (sentence) => console.error(sentence),
  };
}

function forMachines(): Output {
  const print = (document: Json) => console.log(JSON.stringify(document, null, 2));
  return {
    json: true,
    say: () => {},
    rows: () => {},
    progress: () => () => {},
    result: print,
    fail: (sentence, details) => print({ error: sentence, ...details }),
  };
}

function progress(text: string): () => void {
  if (!stdout.isTTY) {
    console.log(`${text} …`);
    return () => {};
  }
  const startedAt = performance.now();
  const draw = () => stdout.write(`\r${text} … ${Math.round((performance.now() - startedAt) / 1000)} s`);
  draw();
  const timer = setInterval(draw, TICK_MS);
  return () => {
    clearInterval(timer);
    stdout.write("\r\u001b[K");
  };
}
