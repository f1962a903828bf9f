// Asks solc's model checker whether the assertions of one contract hold. It runs in a thread of its own: the compiler
// is one long synchronous call, and its solver keeps the memory it once took.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parentPort } from "node:worker_threads";

// A twin is the real source with one thing wrong in it. The file must contain `from`, so that a twin cannot outlive the
// line that it breaks.
export type Twin = { file: string; from: string; to: string };

// Horn clauses ("chc") cover every order of calls. A function without state, calls and loops is one formula, of which the bounded
// engine ("bmc") leaves nothing out: it has the same answer in a twentieth of the time, for as long as the compiler has it.
export type Engine = "chc" | "bmc";

export type Question = { file: string; contract: string; engine: Engine; twin?: Twin };

// What the solver answered, target by target. "Unknown" is everything that is not certain.
export type Answer = { proved: string[]; refuted: string[]; unknown: string[] };

type Message = { severity: string; errorCode?: string; message: string; formattedMessage?: string };

const solc: {
  compile: (input: string, callbacks: { import: (path: string) => { contents: string } }) => string;
} = createRequire(import.meta.url)("solc");

function askSolver({ file, contract, engine, twin }: Question): Answer {
  const input = {
    language: "Solidity",
    sources: { [file]: { content: read(file, twin) } },
    settings: {
      modelChecker: {
        contracts: { [file]: [contract] },
        engine,
        solvers: ["z3"],
        // A twin is refuted by an assertion. Division by zero is no question: no divisor here can be zero.
        targets: twin === undefined ? ["assert", "overflow", "underflow"] : ["assert"],
        showProvedSafe: true,
        showUnproved: true,
        showUnsupported: true,
      },
    },
  };
  const callbacks = { import: (path: string) => ({ contents: read(path, twin) }) };
  const output: { errors?: Message[] } = JSON.parse(solc.compile(JSON.stringify(input), callbacks));
  const answer: Answer = { proved: [], refuted: [], unknown: [] };
  for (const message of output.errors ?? []) sort(message, answer);
  return answer;
}

function read(path: string, twin?: Twin): string {
  const source = readFileSync(path.startsWith("@") ? join("node_modules", path) : path, "utf8");
  if (twin?.file !== path) return source;
  if (!source.includes(twin.from)) throw new Error(`${path} does not contain "${twin.from}", which its twin breaks.`);
  return source.replace(twin.from, twin.to);
}

const PROVED = new Set(["9576", "2961"]);
const DEPRECATED_ENGINE = "3993";
const UNSUPPORTED_TYPE = "8364";

function sort({ severity, errorCode, message, formattedMessage }: Message, answer: Answer): void {
  const text = formattedMessage ?? message;
  if (errorCode !== undefined && PROVED.has(errorCode)) answer.proved.push(text);
  else if (/^(CHC|BMC): .* happens here\./.test(message)) answer.refuted.push(text);
  else if (errorCode === DEPRECATED_ENGINE) return;
  // The solver knows no type for custom errors, and needs none: it knows that `require` ends the call.
  else if (errorCode === UNSUPPORTED_TYPE && message.endsWith("type error")) return;
  else if (severity !== "info") answer.unknown.push(text);
}

// One question after the other: the compiler takes longer to load than many of them take to answer.
parentPort?.on("message", (question: Question) => parentPort?.postMessage(askSolver(question)));
