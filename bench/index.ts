// `npm run --silent bench -- <name> [--json]` prints a benchmark; without a name all of them run and docs/benchmarks.md is
// written. A benchmark's module is loaded only when it is picked, because some of them start a chain or a server as they
// load.
import { parseArgs } from "node:util";
import { printFigures } from "./printFigures.ts";

export type Figure = number | string;

// What a benchmark found: single figures, and lists of rows where one figure depends on another.
export type Figures = { readonly [name: string]: Figure | readonly { readonly [column: string]: Figure }[] };

type Benchmark = { name: string; description: string; run: () => Promise<Figures> };

const benchmarks: readonly Benchmark[] = [
  {
    name: "gas",
    description: "what a settlement costs on chain, beside bare transfers and x402",
    run: async () => (await import("./gas/measureGas.ts")).measureGas(),
  },
  {
    name: "accrue",
    description: "durable accruals per second, with and without group commit",
    run: async () => (await import("./accrue.ts")).accrue(),
  },
  {
    name: "drain",
    description: "how fast 100,000 accrued calls are settled on a local chain, beside 10,000",
    run: async () => (await import("./drain.ts")).drain(),
  },
  {
    name: "http",
    description: "durable accruals per second over HTTP, beside an empty route of the same server",
    run: async () => (await import("./http/measureHttp.ts")).measureHttp(),
  },
];

// What the command line asks for, or the sentence that says why it cannot be followed.
function readCommandLine(): { benchmark: Benchmark | "all"; json: boolean } | string {
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: "boolean" } } });
    const [name, ...others] = positionals;
    if (name === undefined) return values.json ? "Name a benchmark." : { benchmark: "all", json: false };
    if (others.length > 0) return "Name one benchmark at a time.";
    const benchmark = benchmarks.find((candidate) => candidate.name === name);
    return benchmark ? { benchmark, json: values.json ?? false } : `There is no benchmark "${name}".`;
  } catch (error) {
    if (error instanceof TypeError) return `${error.message.split(". ")[0]}.`;
    throw error;
  }
}

const request = readCommandLine();
if (typeof request === "string") {
  const list = benchmarks.map(({ name, description }) => `  ${name.padEnd(8)} ${description}`);
  const usage = "Usage: npm run --silent bench -- <name> [--json], or without a name to write docs/benchmarks.md";
  console.error([request, usage, ...list].join("\n"));
  process.exitCode = 2;
} else if (request.benchmark === "all") {
  const [{ measureAll }, { writePage }] = [await import("./page/measureAll.ts"), await import("./page/writePage.ts")];
  console.log(`Written: ${writePage(await measureAll()).join(", ")}`);
} else {
  const figures = { benchmark: request.benchmark.name, ...(await request.benchmark.run()) };
  if (request.json) console.log(JSON.stringify(figures, undefined, 2));
  else printFigures(figures);
}
