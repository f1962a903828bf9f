import { readConfig } from "../../config.ts";
import { readStatus } from "../../daemon/observability/reads/readStatus.ts";
import { openLedger } from "../../ledger/openLedger.ts";
import type { Command } from "../command.ts";
import { requireLedger } from "../withEngine.ts";

export const status: Command = {
  name: "status",
  usage: "",
  help: ["Reads the ledger only. Ends with 1 while settlement is halted."],
  async run({ output }) {
    const { ledger: location } = readConfig(output.environment);
    requireLedger(location);
    const ledger = await openLedger(location);
    try {
      const found = await readStatus(ledger);
      for (const [name, amount] of Object.entries(found.totals)) output.say(`${name.padEnd(14)}${amount}`);
      output.say(`waiting       ${found.waiting.charges} charges, ${found.waiting.amountUsd} USD`);
      output.say(`sessions      ${found.sessions.open} open, ${found.sessions.runningCalls} calls running`);
      for (const { kind, state, count } of found.submissions) output.say(`on its way    ${count} ${kind} ${state}`);
      if (found.contests.open > 0) {
        output.say(`contested     ${found.contests.open} rows, ${found.contests.chargedUsd} USD`);
      }
      output.say(found.halted === null ? "not halted" : `HALTED since ${found.halted.since}: ${found.halted.reason}`);
      return { exitCode: found.halted === null ? 0 : 1, value: found };
    } finally {
      await ledger.close();
    }
  },
};
