// `npm run --silent bench -- <name> [--json]` prints a benchmark, and with --write writes its part of docs/benchmarks.md;
// without a name all of them run and all of the page is written. A benchmark's module is loaded only when it is picked, because some of them start a chain or a server as they
// load.
import { readArguments, UsageError, withUsage } from "../settlement/cli/readArguments.ts";
import { printResult, type Result } from "./printResult.ts";

type Options = { large: boolean };
type Benchmark = { name: string; description: string; run: (options: Options) => Promise<Result> };

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
    description: "how fast 100,000 accrued calls are settled on a local chain, beside 10,000 (--large: and 1,000,000)",
    run: async (options) => (await import("./drain/measureDrain.ts")).measureDrain(options),
  },
  {
    name: "http",
    description: "durable accruals per second over HTTP, beside an empty route of the same server",
    run: async () => (await import("./http/measureHttp.ts")).measureHttp(),
  },
  {
    name: "sustain",
    description: "accruals over HTTP at full speed and settlement beside it for a minute, with Base's finality",
    run: async () => (await import("./sustain/measureSustain.ts")).measureSustain(),
  },
  {
    name: "ledger",
    description: "how much room a charge takes in the ledger and in the archive, and how fast charges are archived",
    run: async () => (await import("./ledger/measureLedger.ts")).measureLedger(),
  },
  {
    name: "history",
    description: "what every call, tick and page takes beside 10,000 and 100,000 old charges (--large: 1,000,000)",
    run: async (options) => (await import("./history/measureHistory.ts")).measureHistory(options),
  },
  {
    name: "daemons",
    description: "what one, two and four daemons on one PostgreSQL do together: turns, calls and batches",
    run: async () => (await import("./daemons/measureDaemons.ts")).measureDaemons(),
  },
  {
    name: "execute",
    description: "paid calls per second through the marketplace, beside the same tool called directly; searches",
    run: async () => (await import("./execute/measureExecute.ts")).measureExecute(),
  },
  {
    name: "query",
    description: "questions answered and paid in a second, what a turn adds to its tools, and the evaluation's results",
    run: async () => (await import("./query/measureQuery.ts")).measureQuery(),
  },
  {
    name: "court",
    description: "what a conviction by schema costs, and 20,000 judgements beside those of Ajv",
    run: async () => (await import("./court/measureCourt.ts")).measureCourt(),
  },
];

const USAGE = [
  "Usage: npm run --silent bench -- <name> [--json | --write] [--large], or without a name to write all of docs/benchmarks.md",
  ...benchmarks.map(({ name, description }) => `  ${name.padEnd(8)} ${description}`),
].join("\n");

async function main(): Promise<void> {
  const { values, positionals } = readArguments({
    allowPositionals: true,
    options: { json: { type: "boolean" }, large: { type: "boolean" }, write: { type: "boolean" } },
  });
  const [name, ...others] = positionals;
  if (others.length > 0) throw new UsageError("name one benchmark at a time");
  if (name === undefined) {
    if (values.json || values.large) throw new UsageError("name a benchmark");
    return write();
  }
  const benchmark = benchmarks.find((candidate) => candidate.name === name);
  if (benchmark === undefined) throw new UsageError(`there is no benchmark "${name}"`);
  if (values.write) {
    if (values.json) throw new UsageError("--write writes the page and prints no JSON: leave one of them out");
    return write(name);
  }
  const result = { benchmark: name, ...(await benchmark.run({ large: values.large ?? false })) };
  if (values.json) console.log(JSON.stringify(result, undefined, 2));
  else printResult(result);
}

async function write(name?: string): Promise<void> {
  const { writePage } = await import("./page/writePage.ts");
  console.log(`Written: ${(await writePage(name)).join(", ")}`);
}

await withUsage(USAGE, main);
