import type { Measured } from "./measureAll.ts";

// docs/benchmarks.md. The sentences must stay true whatever was measured, so they hold numbers, and no adjectives for them.
export function page(measured: Measured): string {
  const { date, commit, machine, gas, growth, accrue, callers, drains, http, ledger, court } = measured;
  const [first] = growth.byPayers;
  const last = growth.byPayers.at(-1);
  const perPayer =
    first && last
      ? (last.gas - (growth.byPayers.at(-2)?.gas ?? 0)) / (last.payers - (growth.byPayers.at(-2)?.payers ?? 0))
      : 0;
  const [oneTool, , , , , fiftyTools, hundredTools] = growth.byTools;
  const perTool =
    fiftyTools && hundredTools ? (hundredTools.gas - fiftyTools.gas) / (hundredTools.tools - fiftyTools.tools) : 0;
  const breakEven = growth.byCalls.find(({ gasPerCall }) => gasPerCall < growth.x402Gas)?.calls ?? 0;
  const single = growth.byCalls[0];
  return `# Benchmarks

This page and its charts are written by \`npm run bench\`, which takes about four minutes on a quiet machine. Do not edit it: a test compares it with [the results of that run](benchmarks.json).

${table(
  ["measured on", "what"],
  [
    ["date", date],
    ["commit", commit],
    ["processor", `${machine.cores} cores, ${machine.processor}`],
    ["memory", `${machine.memoryGib} GiB`],
    ["system", `${machine.system}, Node ${machine.node}`],
  ],
)}

\`\`\`sh
npm run bench                          # everything, and this page
npm run --silent bench -- gas          # one of them, as a table: gas, accrue, drain, http or ledger
npm run --silent bench -- gas --json   # one JSON object on stdout
\`\`\`

Gas is exact: accounts and amounts are fixed, and every run on every machine gives the same numbers. Rates depend on the machine, its disk and whatever else runs; run the command for yours.

## Gas

What a settlement costs on chain. The workload is ${whole(gas.calls)} calls at $0.001 by ${gas.payers} payers on ${gas.tools} tools, 5 tools per payer, netted to ${gas.payers} rows of 5 lines and settled in one transaction with every check on. It is measured in the steady state: payers have finite allowances, and tools and treasury have credits from an earlier batch.

${table(
  ["name", "value", "what it is"],
  [
    ["`gasPerCall`", exact(gas.gasPerCall), "the batch's gas, divided by its calls"],
    ["`calldataBytesPerCall`", exact(gas.calldataBytesPerCall), "the transaction's input, divided by its calls"],
    ["`gasPerCallPrepaid`", exact(gas.gasPerCallPrepaid), "the same batch out of prepaid balances"],
    [
      "`gasPerCallPrepaidSigned`",
      exact(gas.gasPerCallPrepaidSigned),
      "the same, and every row brings a budget that its payer has signed for this batch",
    ],
    [
      "`gasPerCallWithBudgets`",
      exact(gas.gasPerCallWithBudgets),
      "out of allowances, every payer on a budget that an earlier batch has brought",
    ],
    [
      "`gasPerCallWithDailyCaps`",
      exact(gas.gasPerCallWithDailyCaps),
      "the same batch when every payer has set a daily cap",
    ],
    [
      "`floorGasPerCall`",
      exact(gas.floorGasPerCall),
      `${gas.payers} bare \`transferFrom\` in one transaction and nothing else, divided by the same calls`,
    ],
    ["`ratioToFloor`", exact(gas.ratioToFloor), "the batch's gas against that of the bare transfers"],
    [
      "`x402GasPerPayment`",
      whole(gas.x402GasPerPayment),
      'x402 "exact": one signed `transferWithAuthorization` per payment, to a payee who holds USDC already; mean of 10',
    ],
    ["`timesBelowX402`", exact(gas.timesBelowX402), "that payment's gas against `gasPerCall`"],
    [
      "`x402BatchGasPerCall`",
      exact(gas.x402BatchGasPerCall),
      "x402's batch-settlement scheme for the same calls: one claim on a channel per payer and tool, each with a new voucher",
    ],
    [
      "`x402BatchSingleReceiverGasPerCall`",
      exact(gas.x402BatchSingleReceiverGasPerCall),
      "the same with the platform as the only receiver, which has then paid no developer",
    ],
    ["`batchGas`", whole(gas.batchGas), "the whole transaction"],
    [
      "`shareOfBlock`",
      exact(gas.shareOfBlock),
      `its share of the simulated chain's block of ${whole(gas.blockGasLimit)} gas (\`blockGasLimit\`)`,
    ],
    ["`singleCallBatchGas`", whole(gas.singleCallBatchGas), "the smallest batch: one call of one payer"],
  ],
)}

Measured on Hardhat 3.18's simulated chain (EDR, chain type \`op\`), with Circle's own USDC bytecode behind its proxy, and contracts compiled by solc 0.8.37 through IR with the optimizer at 1,000 runs for the \`cancun\` EVM. A test fails above 255 gas per call, 172 out of prepaid balances, 275 if each of those is signed, 330 with budgets, 130,000 for a single call, or 1.5 times the floor. The channels of x402 are an implementation of our own of the scheme's published interface ([VoucherChannels.sol](../bench/contracts/VoucherChannels.sol)); like for like are its vouchers and \`gasPerCallPrepaidSigned\`. The fee for publishing the input on L1 is no part of gas and is not measured.

### With the number of calls

![Gas per call against calls in a batch, beside a transaction per payment and a batch per payer](charts/gas-by-calls.svg)

Payers make 100 calls each; below 100 calls there is one payer. Against it: a signed x402 payment for each call, a bare \`transferFrom\` for each call, and this router with a transaction for each payer. A batch of one call costs ${whole(single?.gas ?? 0)} gas, which is more than one x402 payment of ${whole(growth.x402Gas)}; from ${whole(breakEven)} calls on it is less.

${table(
  ["calls", "gas of the batch", "gas per call", "one batch per payer", "one `transferFrom` each", "x402"],
  growth.byCalls.map(({ calls, gas: total, gasPerCall, onePerPayerGasPerCall }) => [
    whole(calls),
    whole(total),
    fine(gasPerCall),
    fine(onePerPayerGasPerCall),
    whole(growth.transferGas),
    whole(growth.x402Gas),
  ]),
)}

### With the number of payers

![Gas per call against payers in a batch](charts/gas-by-payers.svg)

Each additional payer with 5 tools costs ${whole(perPayer)} gas, however many calls were netted into its row.

${table(
  ["payers", "calls", "gas of the batch", "gas per payer", "gas per call"],
  growth.byPayers.map(({ payers, gas: total, gasPerPayer, gasPerCall }) => [
    whole(payers),
    whole(payers * 100),
    whole(total),
    whole(gasPerPayer),
    fine(gasPerCall),
  ]),
)}

With ${gas.scaling.map(({ payers, gasPerCall }) => `${payers} payers ${exact(gasPerCall)}`).join(", ")} (\`scaling\`).

### With the number of tools

![Gas per call against tools in a batch](charts/gas-by-tools.svg)

The same ${whole(gas.calls)} calls of ${gas.payers} payers on fewer or more tools: from ${fine(oneTool?.gasPerCall ?? 0)} gas per call with one tool to ${fine(hundredTools?.gasPerCall ?? 0)} with 100. Each additional tool costs ${whole(perTool)} gas per batch. A batch has room for 256 of them.

${table(
  ["tools", "gas of the batch", "gas per call"],
  growth.byTools.map(({ tools, gas: total, gasPerCall }) => [whole(tools), whole(total), fine(gasPerCall)]),
)}

## Accruals

How many delivered turns per second the ledger makes durable. 64 callers each report a turn with one tool and wait until it is on disk before they report the next. Medians of three runs.

${table(
  ["name", "value", "what it is"],
  [
    [
      "`engineAccrualsPerSecond`",
      whole(accrue.engineAccrualsPerSecond),
      "SQLite, WAL, `synchronous=FULL`, callers share commits",
    ],
    [
      "`oneCommitPerCallPerSecond`",
      whole(accrue.oneCommitPerCallPerSecond),
      "the same code with a commit for every call",
    ],
    ["`ratio`", exact(accrue.ratio), "the one against the other"],
    [
      "`postgresAccrualsPerSecond`",
      whole(accrue.postgresAccrualsPerSecond),
      "PostgreSQL 18 on the same machine, callers share commits",
    ],
    ["`p50Ms`, `p99Ms`", `${exact(accrue.p50Ms)}, ${exact(accrue.p99Ms)}`, "how long a caller on SQLite waited"],
  ],
)}

![Accruals per second against callers at the same time, with shared commits and with a commit per call](charts/accruals-by-callers.svg)

${table(
  ["callers", "shared commits, per second", "a commit per call, per second"],
  callers.map((point) => [whole(point.callers), whole(point.sharedPerSecond), whole(point.oneCommitPerCallPerSecond)]),
)}

## Draining a backlog

How long settlement takes from accrued calls to \`included\`, on a real anvil with the real USDC and an SQLite ledger: reading what is due, netting, hashing receipts, signing, sending and finding the receipts. Medians of three runs up to 10,000 calls, one run above.

![Calls settled per second against the size of the backlog](charts/drain-by-backlog.svg)

${table(
  ["payers", "calls", "batches", "seconds", "settled per second", "accrued per second", "gas per call", "memory, MB"],
  drains.map(({ payers, calls, batches, seconds, callsPerSecond, accruePerSecond, gasPerCall, rssMb }) => [
    whole(payers),
    whole(calls),
    whole(batches),
    exact(seconds),
    whole(callsPerSecond),
    whole(accruePerSecond),
    fine(gasPerCall),
    whole(rssMb),
  ]),
)}

The settlement service is a process of its own, whose greatest memory is in the last column. Before it settles, it accrues the calls itself, 64 at a time, each on disk before the next: as many per second as the column says.

## Room in the ledger

How much room a charge takes, with everything that is kept for its sake: its turn or call, its receipt, its share of the batch and of the signed bytes, and the indices. ${whole(ledger.charges)} charges on SQLite and ${whole(ledger.postgresCharges)} on PostgreSQL, half of them of turns with a tool and a model, half of calls in sessions, with ids and hashes as long and as random as in production, in final batches of up to 10,000. Then all of it is [archived](archive.md), and the ledger's own audit is run over both.

${table(
  ["name", "SQLite", "PostgreSQL", "what it is"],
  [
    [
      "`bytesPerCharge.hot`",
      whole(ledger.bytesPerCharge.hot),
      whole(ledger.postgresBytesPerCharge.hot),
      "bytes of the database per charge before it is archived",
    ],
    [
      "`bytesPerCharge.archived`",
      whole(ledger.bytesPerCharge.archived),
      whole(ledger.postgresBytesPerCharge.archived),
      "bytes of the files per charge",
    ],
    [
      "`bytesPerCharge.left`",
      whole(ledger.bytesPerCharge.left),
      whole(ledger.postgresBytesPerCharge.left),
      "what stays in the database: fingerprints of its names, and its share of sessions, batches and earnings",
    ],
    [
      "`archivedPerSecond`",
      whole(ledger.archivedPerSecond),
      whole(ledger.postgresArchivedPerSecond),
      "charges archived per second, from reading them to the last commit",
    ],
  ],
)}

## HTTP

Accruals over HTTP with ${http.connections} connections: each request reports a turn of its own and is answered when that is on disk (SQLite, WAL, \`synchronous=FULL\`). Beside it, in turns, a route of the same server that asks for the same token, takes the same body and does nothing. The server is a process of its own with its log on; the settlement loop does not run. The client runs on the same machine, so both rates depend on its cores; the ratio depends on them less. Means of two runs.

${table(
  ["name", "value", "what it is"],
  [
    ["`accrualsPerSecond`", whole(http.accrualsPerSecond), "turns recorded per second"],
    ["`emptyRoutePerSecond`", whole(http.emptyRoutePerSecond), "requests per second of the route that does nothing"],
    ["`ratio`", exact(http.ratio), "the one divided by the other"],
    ["`p99Ms`", exact(http.p99Ms), "99th percentile of the time to an answer, in milliseconds"],
  ],
)}
${court ? courtOf(court) : ""}`;
}

function courtOf(court: NonNullable<Measured["court"]>): string {
  return `
## Court

What it costs to convict a tool of an answer that does not match its schema, whose last value is wrong, so that all of it is read; and how often the contract and Ajv decide ${whole(court.cases)} generated cases in the same way. A test fails above 2,000,000 gas for an answer of 2 KB.

${table(
  ["name", "value", "what it is"],
  [
    ["`gasPerConviction`", whole(court.gasPerConviction), "of an answer of 2 KB, with a schema of the next row"],
    ["`schemaBytes`", whole(court.schemaBytes), "that schema's text"],
    ["`maxAnswerBytes`", whole(court.maxAnswerBytes), "the longest answer that one transaction convicts of"],
    ["`agree`", whole(court.agree), "cases that both decide in the same way"],
    ["`unknown`", whole(court.unknown), "cases that the contract does not decide"],
    ["`wrongConvictions`", whole(court.wrongConvictions), "cases that only the contract refuses"],
    ["`wrongAcquittals`", whole(court.wrongAcquittals), "cases that only Ajv refuses"],
  ],
)}

${table(
  ["bytes of the answer", "gas", "gas per byte"],
  court.gasPerByte.map(({ bytes, gas, gasPerByte }) => [whole(bytes), whole(gas), whole(gasPerByte)]),
)}
`;
}

const whole = (value: number) => Math.round(value).toLocaleString("en-US");
const exact = (value: number) => value.toLocaleString("en-US", { maximumFractionDigits: 4 });
const fine = (value: number) => (value >= 1_000 ? whole(value) : value.toFixed(2));

// A table with its columns padded, numbers to the right.
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(name.length, 4, ...rows.map((row) => row[column]?.length ?? 0)));
  const numeric = head.map((_, column) => rows.every((row) => /^[\d.,\s]+$/.test(row[column] ?? "")));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (numeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join(" | ")} |`;
  const rule = widths.map((width, i) => (numeric[i] ? `${"-".repeat(width - 1)}:` : "-".repeat(width)));
  return [line(head), `| ${rule.join(" | ")} |`, ...rows.map(line)].join("\n");
}
