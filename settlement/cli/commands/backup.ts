import { statSync } from "node:fs";
import { readConfig } from "../../config.ts";
import { SettlementError } from "../../domain/errors.ts";
import { isPostgres } from "../../domain/text/isPostgres.ts";
import { copySqlite } from "../../ledger/database/sqlite/copySqlite.ts";
import { openLedger } from "../../ledger/openLedger.ts";
import type { Command } from "../command.ts";
import { requireLedger } from "../withEngine.ts";

export const backup: Command = {
  name: "backup",
  usage: "<file>",
  help: [
    "Writes the SQLite ledger as it is at this moment into a new file, while the daemon runs, and adds the copy up.",
    "Ends with 1 if the copy's counters are not what they should be. A ledger on PostgreSQL is copied with pg_dump.",
  ],
  positionals: { min: 1, max: 1 },
  async run({ positionals: [target = ""], output }) {
    const { ledger: path } = readConfig(output.environment);
    if (isPostgres(path))
      throw new SettlementError("invalid_input", "the ledger is on PostgreSQL; copy it with pg_dump");
    requireLedger(path);
    output.progress("copying");
    copySqlite(path, target);
    const copy = await openLedger(target);
    try {
      output.progress("adding up the copy");
      const differences = await copy.audit();
      const { size } = statSync(target);
      output.say(`${target} is a copy of ${path}, ${(size / 1_048_576).toFixed(1)} MiB`);
      for (const difference of differences) output.say(difference);
      return { exitCode: differences.length === 0 ? 0 : 1, value: { file: target, bytes: size, differences } };
    } finally {
      await copy.close();
    }
  },
};
