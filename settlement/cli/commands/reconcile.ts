import { readFileSync } from "node:fs";
import { type Address, type Hex, isHex } from "viem";
import { decodeSettle } from "../../chain/router/settleCall.ts";
import { formatUsd } from "../../domain/money.ts";
import type { Command } from "../command.ts";
import { UsageError, wholeNumber } from "../readArguments.ts";
import { withEngine } from "../withEngine.ts";

const DEFAULT_BATCHES = 1_000;
const ADDRESS = /^0x[0-9a-f]{40}$/i;

// A line for each call.
function readCalldata(path: string): Hex[] {
  const lines = textOf(path).toLowerCase().split(/\s+/).filter(Boolean);
  if (!lines.every((line) => isHex(line)))
    throw new UsageError(`--calldata: ${path} has a line that is not 0x and digits`);
  if (!lines.every(isSettle)) {
    throw new UsageError(
      `--calldata: ${path} has a line that is not the calldata of settle; take the input of the call to the router, whole`,
    );
  }
  return lines as Hex[];
}

function isSettle(line: string): boolean {
  try {
    decodeSettle(line as Hex);
    return line.length % 2 === 0;
  } catch {
    return false;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new UsageError(`--calldata: ${path} cannot be read (${why}); name a file with the calldata of settle`);
  }
}

export const reconcile: Command = {
  name: "reconcile",
  usage: "[--batches <n>] [--adopt [--calldata <file>]] [--reopen] [--fence] [--retire <operator>] [--resume]",
  help: [
    "Reads the transaction of each of the newest batches (1000 unless told otherwise) again, and looks for batches that our",
    "keys have settled and the ledger does not know: after a restore, or because somebody else has a key.",
    "With --adopt it takes those in, so that nobody is charged again for what they took; with --calldata it is given what no",
    "endpoint shows of them, a line for each, and compares it with what the router keeps. With --reopen it puts what was final",
    "in blocks that the chain has undone on its way again. With --retire it gives up a key that no process has any more, once a",
    "final block shows that it may settle nothing: nobody waits for it, and what it was to charge is due again. It never comes back.",
    "With --fence it says that the ledger was taken back by a snapshot of the whole disk, which leaves no mark: then nothing is",
    "planned until every nonce is final on which something may wait that the ledger has forgotten.",
    "With --resume it lifts a halt once nothing differs. Ends with 1 if something differs, or the key is not retired.",
  ],
  options: {
    batches: { type: "string" },
    adopt: { type: "boolean" },
    calldata: { type: "string" },
    reopen: { type: "boolean" },
    fence: { type: "boolean" },
    retire: { type: "string" },
    resume: { type: "boolean" },
  },
  run: ({ values, output }) => {
    const batches = wholeNumber("--batches", String(values.batches ?? DEFAULT_BATCHES));
    const retire = values.retire === undefined ? undefined : String(values.retire);
    if (retire !== undefined && !ADDRESS.test(retire)) throw new UsageError("--retire is 0x and 40 digits");
    const calldata = values.calldata === undefined ? [] : readCalldata(String(values.calldata));
    // The ledger may be older than the first use of a key, so the keys are those of the configuration.
    return withEngine(output, { keys: true }, async ({ engine }) => {
      const { differences, adopted, reopened, retired, resumed } = await engine.reconcile({
        batches,
        adopt: values.adopt === true,
        calldata,
        reopen: values.reopen === true,
        fence: values.fence === true,
        ...(retire !== undefined && { retire: retire as Address }),
        resume: values.resume === true,
        say: output.say,
        progress: output.progress,
      });
      const shown = adopted.map(({ batchId, charges, unexplained }) => ({
        batchId,
        charges,
        unexplainedUsd: formatUsd(unexplained),
      }));
      return {
        exitCode: differences.length === 0 && retired === (retire !== undefined) ? 0 : 1,
        value: { differences, adopted: shown, reopened, retired, resumed },
      };
    });
  },
};
