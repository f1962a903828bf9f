import { setTimeout as pause } from "node:timers/promises";
import { formatUsd } from "../../domain/money.ts";
import type { Command } from "../command.ts";
import { UsageError } from "../readArguments.ts";
import { withEngine } from "../withEngine.ts";

const DEFAULT_MINUTES = 60;
const ROUND_MS = 1_000;

export const drain: Command = {
  name: "drain",
  usage: "[--minutes <n>]",
  help: [
    "Does ticks of settlement until every charge is final, absorbed, refused or voided, or the time is over (60 minutes",
    "unless told otherwise). Stop the daemon first: it holds the lease of the operator keys while it runs.",
    "Ends with 1 if something is still pending.",
  ],
  options: { minutes: { type: "string" } },
  run: ({ values, output }) => {
    const minutes = Number(values.minutes ?? DEFAULT_MINUTES);
    if (!(minutes >= 0 && minutes <= 10_000)) throw new UsageError("--minutes must be a number from 0 to 10000");
    return withEngine(output, { keys: true }, async ({ engine, ledger }) => {
      const endMs = Date.now() + minutes * 60_000;
      const { pending: first } = await ledger.readTotals();
      let pending = first;
      while (pending > 0n) {
        await engine.tick({ atOnce: true });
        pending = (await ledger.readTotals()).pending;
        // New charges may come in meanwhile.
        const done = pending < first ? ((first - pending) * 100n) / first : 0n;
        output.progress(`${bar(Number(done))} ${formatUsd(pending)} USD pending`);
        if (pending === 0n || Date.now() >= endMs) break;
        await pause(ROUND_MS);
      }
      await engine.releaseLeases();
      output.say(pending === 0n ? "nothing is pending" : `${formatUsd(pending)} USD are still pending`);
      return { exitCode: pending === 0n ? 0 : 1, value: { pendingUsd: formatUsd(pending) } };
    });
  },
};

const bar = (percent: number) => `[${"#".repeat(Math.floor(percent / 5)).padEnd(20, ".")}] ${percent} %`;
