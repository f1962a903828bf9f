import type { measureGas } from "../../gas/measureGas.ts";
import type { measureGrowth } from "../../gas/measureGrowth.ts";
import { chapter } from "../chapter.ts";
import { exact, fine, named, table, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureGas>> & { growth: Awaited<ReturnType<typeof measureGrowth>> };

export const gas = chapter<Measured>({
  name: "gas",
  command: "gas",
  measure: async () => ({
    ...(await (await import("../../gas/measureGas.ts")).measureGas()),
    growth: await (await import("../../gas/measureGrowth.ts")).measureGrowth(),
  }),
  text,
  charts: ({ growth, ...gas }) => ({
    "gas-by-calls": {
      title: "Gas per call, by the number of calls in a batch",
      description: `Both axes are logarithmic. A batch of one call costs ${growth.byCalls[0]?.gas} gas, more than a single x402 payment; with 10,000 calls it is ${gas.gasPerCall} gas per call, while a transaction per payment costs the same however many there are.`,
      x: {
        label: "calls in the batch, 100 of each payer",
        scale: "step",
        values: growth.byCalls.map(({ calls }) => calls),
      },
      y: { label: "gas per call", scale: "log" },
      lines: [
        { name: "this router", values: growth.byCalls.map(({ gasPerCall }) => gasPerCall), main: true },
        { name: "x402 for each call", values: growth.byCalls.map(() => growth.x402Gas) },
        { name: "transferFrom for each call", values: growth.byCalls.map(() => growth.transferGas) },
        {
          name: "a batch for each payer",
          values: growth.byCalls.map(({ onePerPayerGasPerCall }) => onePerPayerGasPerCall),
        },
      ],
    },
    "gas-by-payers": {
      title: "Gas per call, by the number of payers in a batch",
      description:
        "Each payer makes 100 calls on 5 of 20 tools. What is paid once per batch is shared by more payers, until a payer's own transfer is most of it.",
      x: {
        label: "payers in the batch, 100 calls each",
        scale: "step",
        values: growth.byPayers.map(({ payers }) => payers),
      },
      y: { label: "gas per call", scale: "log" },
      lines: [
        { name: "this router", values: growth.byPayers.map(({ gasPerCall }) => gasPerCall), main: true },
        {
          name: `bare transfers of 100 payers (${gas.floorGasPerCall})`,
          values: growth.byPayers.map(() => gas.floorGasPerCall),
        },
      ],
    },
    "gas-by-tools": {
      title: "Gas per call, by the number of tools in a batch",
      description:
        "10,000 calls of 100 payers, each on up to 5 tools. Each additional tool costs a read of its stake and a write of its credit.",
      x: {
        label: "tools in the batch of 10,000 calls",
        scale: "linear",
        values: growth.byTools.map(({ tools }) => tools),
      },
      y: { label: "gas per call", scale: "linear" },
      lines: [{ name: "this router", values: growth.byTools.map(({ gasPerCall }) => gasPerCall), main: true }],
    },
  }),
});

function text({ growth, ...gas }: Measured): string {
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
  return `## Gas

What a settlement costs on chain. The workload is ${whole(gas.calls)} calls at $0.001 by ${gas.payers} payers on ${gas.tools} tools, 5 tools per payer, netted to ${gas.payers} rows of 5 lines and settled in one transaction with every check on. It is measured in the steady state: payers have finite allowances, and tools and treasury have credits from an earlier batch.

${named([
  ["gasPerCall", exact(gas.gasPerCall), "the batch's gas, divided by its calls"],
  ["calldataBytesPerCall", exact(gas.calldataBytesPerCall), "the transaction's input, divided by its calls"],
  ["gasPerCallPrepaid", exact(gas.gasPerCallPrepaid), "the same batch out of prepaid balances"],
  [
    "gasPerCallPrepaidSigned",
    exact(gas.gasPerCallPrepaidSigned),
    "the same, and every row brings a budget that its payer has signed for this batch",
  ],
  [
    "gasPerCallWithBudgets",
    exact(gas.gasPerCallWithBudgets),
    "out of allowances, every payer on a budget that an earlier batch has brought",
  ],
  [
    "gasPerCallWithDailyCaps",
    exact(gas.gasPerCallWithDailyCaps),
    "the same batch when every payer has set a daily cap",
  ],
  [
    "floorGasPerCall",
    exact(gas.floorGasPerCall),
    `${gas.payers} bare \`transferFrom\` in one transaction and nothing else, divided by the same calls`,
  ],
  ["ratioToFloor", exact(gas.ratioToFloor), "the batch's gas against that of the bare transfers"],
  [
    "x402GasPerPayment",
    whole(gas.x402GasPerPayment),
    'x402 "exact": one signed `transferWithAuthorization` per payment, to a payee who holds USDC already; mean of 10',
  ],
  ["timesBelowX402", exact(gas.timesBelowX402), "that payment's gas against `gasPerCall`"],
  [
    "x402BatchGasPerCall",
    exact(gas.x402BatchGasPerCall),
    "x402's batch-settlement scheme for the same calls: one claim on a channel per payer and tool, each with a new voucher",
  ],
  [
    "x402BatchSingleReceiverGasPerCall",
    exact(gas.x402BatchSingleReceiverGasPerCall),
    "the same with the platform as the only receiver, which has then paid no developer",
  ],
  ["batchGas", whole(gas.batchGas), "the whole transaction"],
  [
    "shareOfBlock",
    exact(gas.shareOfBlock),
    `its share of the simulated chain's block of ${whole(gas.blockGasLimit)} gas (\`blockGasLimit\`)`,
  ],
  ["singleCallBatchGas", whole(gas.singleCallBatchGas), "the smallest batch: one call of one payer"],
])}

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
)}`;
}
