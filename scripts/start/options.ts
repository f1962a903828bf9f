import { readArguments, UsageError } from "../../settlement/cli/readArguments.ts";

export type StartOptions = {
  help: boolean;
  demo: boolean;
  reset: boolean;
  // 0 takes a free one.
  port: number;
  marketplacePort: number;
  rpcPort: number;
  folder: string;
};

export const HELP = `Usage: npm start -- [options]

Runs the whole stack on this machine: a local chain with the real USDC and the contracts, the settlement daemon, the
marketplace, a few tools that are listed there, and agents who buy from them. Everything is kept, and the next start goes
on from it.

  --no-demo               without the agents
  --reset                 start over: forget the chain, the ledger, the marketplace and the keys
  --port <n>              the daemon's port, 8787 unless told otherwise; 0 takes a free one
  --marketplace-port <n>  the marketplace's port, 8788 unless told otherwise; 0 takes a free one
  --rpc-port <n>          the chain's port, 8545 unless told otherwise; 0 takes a free one
  --state <folder>        where everything is kept, .local unless told otherwise
  --help                  this text`;

const MAX_PORT = 65_535;

export function readOptions(args: readonly string[]): StartOptions {
  const { values } = readArguments({
    args: [...args],
    options: {
      help: { type: "boolean", short: "h" },
      "no-demo": { type: "boolean" },
      reset: { type: "boolean" },
      port: { type: "string" },
      "marketplace-port": { type: "string" },
      "rpc-port": { type: "string" },
      state: { type: "string" },
    },
  });
  return {
    help: values.help === true,
    demo: values["no-demo"] !== true,
    reset: values.reset === true,
    port: portOf("--port", values.port ?? "8787"),
    marketplacePort: portOf("--marketplace-port", values["marketplace-port"] ?? "8788"),
    rpcPort: portOf("--rpc-port", values["rpc-port"] ?? "8545"),
    folder: folderOf(values.state ?? ".local"),
  };
}

function folderOf(name: string): string {
  if (name !== "") return name;
  throw new UsageError("--state must name a folder, and is empty");
}

function portOf(name: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return Number(text);
  throw new UsageError(`${name} must be a number from 0 to ${MAX_PORT}, and is "${text}"`);
}
