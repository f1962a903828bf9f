// `node test/formal/prove.ts` proves the invariants of this folder about the contracts as they are, for every input and every
// order of calls. A proof that could not fail would say nothing, so each invariant is also asked about twins of the contracts,
// broken in one place, and must be refuted there.
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { Answer, Engine, Question, Twin } from "./askSolver.ts";

const SPLIT = "contracts/libraries/RevenueSplit.sol";
const ONCE = "contracts/SettledBatches.sol";
const SLASH = "contracts/libraries/SlashSplit.sol";

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
const forgetsToStore: Twin = { file: ONCE, from: "_records[batchId] = block.timestamp;", to: "" };
const forgetsToLook: Twin = { file: ONCE, from: "require(record == 0,", to: "require(true," };
const keepsNothing: Twin = { file: ONCE, from: "require(record != 0, IContextRouter.EmptyBatch());", to: "" };
const CHAIN = "contracts/BatchChain.sol";
const forgetsTheHead: Twin = { file: CHAIN, from: "_heads[operator] = batchId;", to: "" };
const followsAnything: Twin = { file: CHAIN, from: "require(previous == head,", to: "require(true," };

const paysBeyondTheRefunds: Twin = {
  file: SLASH,
  from: "if (bounty > left) bounty = left;",
  to: "if (bounty > left) left = bounty;",
};
const forgetsTheBounty: Twin = { file: SLASH, from: "remainder = left - bounty;", to: "remainder = left;" };
const refundsInFull: Twin = { file: SLASH, from: "slashed >= proposed ? amount", to: "slashed >= proposed ? proposed" };

type Invariant = { file: string; contract: string; engine: Engine; twins: Record<string, Twin> };

const invariants: readonly Invariant[] = [
  { file: "test/formal/Once.sol", contract: "BatchSettlesOnce", engine: "chc", twins: { forgetsToStore } },
  {
    file: "test/formal/Once.sol",
    contract: "BatchStaysSettled",
    engine: "chc",
    twins: { forgetsToLook, keepsNothing },
  },
  {
    file: "test/formal/Chain.sol",
    contract: "BatchesFollowEachOther",
    engine: "chc",
    twins: { forgetsTheHead, followsAnything },
  },
  { file: "test/formal/Split.sol", contract: "NoUnitIsLost", engine: "bmc", twins: { losesUnits } },
  { file: "test/formal/Split.sol", contract: "DeveloperGetsNineTenths", engine: "bmc", twins: { roundsUp } },
  { file: "test/formal/Split.sol", contract: "DeveloperGetsNineTenthsOfABatch", engine: "bmc", twins: { roundsUp } },
  {
    file: "test/formal/Split.sol",
    contract: "RoundingGivesTheDeveloperLessThanOneUnit",
    engine: "bmc",
    twins: { takesAnEleventh },
  },
  { file: "test/formal/Split.sol", contract: "NettingMovesOneUnitAtMost", engine: "bmc", twins: { roundsUp } },
  { file: "test/formal/Slashed.sol", contract: "NoUnitOfASlashIsLost", engine: "bmc", twins: { forgetsTheBounty } },
  {
    file: "test/formal/Slashed.sol",
    contract: "RefundsComeBeforeTheBounty",
    engine: "bmc",
    twins: { paysBeyondTheRefunds },
  },
  {
    file: "test/formal/Slashed.sol",
    contract: "RefundIsNeverMoreThanProposed",
    engine: "bmc",
    twins: { refundsInFull },
  },
];

// The solver counts its own steps and gives up; this is for the case that it does not.
const TIMEOUT_MS = 600_000;

type Task = { name: string; question: Question; check: (answer: Answer) => string | undefined };

const tasks: Task[] = invariants.flatMap(({ file, contract, engine, twins }) => [
  { name: `${contract} is proved`, question: { file, contract, engine }, check: whyNotProved },
  ...Object.entries(twins).map(([name, twin]) => ({
    name: `${contract} is refuted of code that ${wordsOf(name)}`,
    question: { file, contract, engine, twin },
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

type Solver = { ask(question: Question): Promise<Answer>; end(): void };

// A thread that answers one question at a time. One that has had no answer, or broke down, is replaced by another.
function openSolver(): Solver {
  let worker: Worker | undefined;
  const end = () => {
    void worker?.terminate();
    worker = undefined;
  };
  return {
    end,
    ask: (question) =>
      new Promise((resolve, reject) => {
        worker ??= new Worker(new URL("./askSolver.ts", import.meta.url));
        const timer = setTimeout(() => {
          end();
          resolve({ proved: [], refuted: [], unknown: [`The solver had no answer after ${TIMEOUT_MS} ms.`] });
        }, TIMEOUT_MS);
        worker.removeAllListeners();
        worker.once("message", (answer: Answer) => {
          clearTimeout(timer);
          resolve(answer);
        });
        worker.once("error", (error) => {
          clearTimeout(timer);
          end();
          reject(error);
        });
        worker.postMessage(question);
      }),
  };
}

let failed = 0;

async function work(queue: Task[]): Promise<void> {
  const solver = openSolver();
  for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
    const startedAt = performance.now();
    const problem = await solver.ask(task.question).then(task.check, (error: Error) => error.message);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${problem === undefined ? "✓" : "✗"} ${task.name} (${seconds} s)`);
    if (problem === undefined) continue;
    failed += 1;
    console.log(problem);
  }
  solver.end();
}

const queue = [...tasks];
// One core is left to the compiler, which `npm test` runs at the same time.
const threads = Math.max(1, availableParallelism() - 1);
await Promise.all(Array.from({ length: threads }, () => work(queue)));
console.log(`${tasks.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
