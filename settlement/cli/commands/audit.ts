import type { Command } from "../command.ts";
import { withEngine } from "../withEngine.ts";

export const audit: Command = {
  name: "audit",
  usage: "",
  help: [
    "Reads every settlement since SETTLEMENT_FROM_BLOCK from the chain, and adds up every counter of the ledger again.",
    "Shows the lines that differ, and ends with 1 if there are any.",
  ],
  run: ({ output }) =>
    // With the keys, because an empty or older ledger may know of none.
    withEngine(output, { keys: true }, async ({ engine, ledger, config }) => {
      output.progress("adding up the ledger");
      const counters = await ledger.audit();
      output.progress("reading the chain");
      const found = await engine.audit(config.fromBlock);
      const differences = [...counters, ...(found.kind === "different" ? found.differences : [])];
      for (const difference of differences) output.say(difference);
      const batches = found.kind === "equal" ? found.batches : null;
      output.say(
        differences.length === 0 ? `the ledger is right: ${batches} batches` : `${differences.length} lines differ`,
      );
      return { exitCode: differences.length === 0 ? 0 : 1, value: { batches, differences } };
    }),
};
