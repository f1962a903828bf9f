import { type LineChart, lineChart } from "../charts/lineChart.ts";
import type { Measured } from "./measureAll.ts";

// The charts of the page, by the name of their file.
export function charts({ gas, growth, callers, drains }: Measured): Record<string, string> {
  const drawings: Record<string, LineChart> = {
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
    "accruals-by-callers": {
      title: "Durable accruals per second, by callers at the same time",
      description:
        "Callers that wait at the same time share a commit, so the rate grows with them; with a commit for each call it stays where the disk is.",
      x: {
        label: "callers that wait at the same time",
        scale: "step",
        values: callers.map((point) => point.callers),
      },
      y: { label: "accruals per second", scale: "linear" },
      lines: [
        { name: "shared commits", values: callers.map(({ sharedPerSecond }) => sharedPerSecond), main: true },
        {
          name: "a commit per call",
          values: callers.map(({ oneCommitPerCallPerSecond }) => oneCommitPerCallPerSecond),
        },
      ],
    },
    "drain-by-backlog": {
      title: "Calls settled per second, by the size of the backlog",
      description: "From accrued calls to transactions in a block, on a local chain.",
      x: { label: "accrued calls in the backlog", scale: "step", values: drains.map(({ calls }) => calls) },
      y: { label: "calls settled per second", scale: "linear" },
      lines: [
        {
          name: "one engine, one operator key",
          values: drains.map(({ callsPerSecond }) => callsPerSecond),
          main: true,
        },
      ],
    },
  };
  return Object.fromEntries(Object.entries(drawings).map(([name, drawing]) => [`${name}.svg`, lineChart(drawing)]));
}
