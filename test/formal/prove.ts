// `node test/formal/prove.ts` proves the laws of this folder about the contracts as they are, for every input and every
// order of calls. A proof that could not fail would say nothing, so each law is also asked about twins of the contracts,
// broken in one place, and has to be refuted there.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Answer, Question, Twin } from "./askSolver.ts";

const SPLIT = "contracts/libraries/RevenueSplit.sol";
const ONCE = "contracts/SettledBatches.sol";

const roundsUp: Twin = {
  file: SPLIT,
  from: "protocolShare = amount / PROTOCOL_PARTS;",
  to: "protocolShare = (amount + 9) / PROTOCOL_PARTS;",
};
const losesUnits: Twin = {
  file: SPLIT,
  from: "developerShare = amount - protocolShare;",
  to: "developerShare = protocolShare * (PROTOCOL_PARTS - 1);",
};
const takesAnEleventh: Twin = { file: SPLIT, from: "PROTOCOL_PARTS = 10;", to: "PROTOCOL_PARTS = 11;" };
const forgetsToStore: Twin = { file: ONCE, from: "_settledAt[receiptsRoot] = block.timestamp;", to: "" };
const forgetsToLook: Twin = { file: ONCE, from: "require(timestamp == 0,", to: "require(true," };

type Law = { file: string; contract: string; twins: Record<string, Twin> };

const laws: readonly Law[] = [
  { file: "test/formal/Once.sol", contract: "BatchSettlesOnce", twins: { forgetsToStore, forgetsToLook } },
  { file: "test/formal/Split.sol", contract: "NoUnitIsLost", twins: { losesUnits } },
  { file: "test/formal/Split.sol", contract: "DeveloperGetsNineTenths", twins: { roundsUp } },
  { file: "test/formal/Split.sol", contract: "DeveloperGetsNineTenthsOfABatch", twins: { roundsUp } },
  { file: "test/formal/Split.sol", contract: "RoundingGivesTheDeveloperLessThanOneUnit", twins: { takesAnEleventh } },
  { file: "test/formal/Split.sol", contract: "NettingMovesOneUnitAtMost", twins: { roundsUp } },
];

// The solver counts its own steps and gives up; this is for the case that it does not.
const TIMEOUT_MS = 600_000;

type Task = { name: string; question: Question; check: (answer: Answer) => string | undefined };

const tasks: Task[] = laws.flatMap(({ file, contract, twins }) => [
  { name: `${contract} is proved`, question: { file, contract }, check: whyNotProved },
  ...Object.entries(twins).map(([name, twin]) => ({
    name: `${contract} is refuted of code that ${wordsOf(name)}`,
    question: { file, contract, twin },
    check: whyNotRefuted,
  })),
]);

function whyNotProved({ proved, refuted, unknown }: Answer): string | undefined {
  if (refuted.length + unknown.length > 0) return [...refuted, ...unknown].join("\n");
  if (proved.some((target) => target.includes("Assertion violation check is safe"))) return undefined;
  return "The model checker proved no assertion: it found none, or has no solver.";
}

function whyNotRefuted({ proved, refuted, unknown }: Answer): string | undefined {
  if (refuted.some((target) => target.includes("Assertion violation happens here"))) return undefined;
  return ["No assertion was refuted.", ...proved, ...refuted, ...unknown].join("\n");
}

function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function ask(question: Question): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./askSolver.ts", import.meta.url), { workerData: question });
    const timer = setTimeout(() => {
      void worker.terminate();
      resolve({ proved: [], refuted: [], unknown: [`The solver had no answer after ${TIMEOUT_MS} ms.`] });
    }, TIMEOUT_MS);
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", () => clearTimeout(timer));
  });
}

let failed = 0;

async function work(queue: Task[]): Promise<void> {
  for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
    const startedAt = performance.now();
    const problem = await ask(task.question).then(task.check, (error: Error) => error.message);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${problem === undefined ? "✓" : "✗"} ${task.name} (${seconds} s)`);
    if (problem === undefined) continue;
    failed += 1;
    console.log(problem);
  }
}

const queue = [...tasks];
await Promise.all(Array.from({ length: availableParallelism() }, () => work(queue)));
console.log(`${tasks.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
