import { parseArgs } from "node:util";
import { StartError } from "./StartError.ts";

export type StartOptions = {
  help: boolean;
  demo: boolean;
  reset: boolean;
  // 0 takes a free one.
  port: number;
  rpcPort: number;
  folder: string;
};

export const HELP = `Usage: npm start -- [options]

Runs the whole stack on this machine: a local chain with the real USDC and the contracts, the settlement daemon, and a
gentle traffic of turns and sessions. Everything is kept, and the next start goes on from it.

  --no-demo          without the traffic
  --reset            begin anew: forget the chain, the ledger and the keys
  --port <n>         the daemon's port, 8787 unless told otherwise; 0 takes a free one
  --rpc-port <n>     the chain's port, 8545 unless told otherwise; 0 takes a free one
  --state <folder>   where everything is kept, .local unless told otherwise
  --help             this text`;

const MAX_PORT = 65_535;

export function readOptions(args: readonly string[]): StartOptions {
  const values = parsed(args);
  return {
    help: values.help === true,
    demo: values["no-demo"] !== true,
    reset: values.reset === true,
    port: portOf("--port", values.port ?? "8787"),
    rpcPort: portOf("--rpc-port", values["rpc-port"] ?? "8545"),
    folder: values.state ?? ".local",
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        help: { type: "boolean", short: "h" },
        "no-demo": { type: "boolean" },
        reset: { type: "boolean" },
        port: { type: "string" },
        "rpc-port": { type: "string" },
        state: { type: "string" },
      },
    }).values;
  } catch (error) {
    // parseArgs says what it does not understand in its first sentence.
    if (!(error instanceof TypeError)) throw error;
    throw new StartError(`${error.message.split(". ")[0]}. npm start -- --help shows what there is.`);
  }
}

function portOf(name: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= MAX_PORT) return Number(text);
  throw new StartError(`${name} has to be a number from 0 to ${MAX_PORT}, and is "${text}".`);
}
