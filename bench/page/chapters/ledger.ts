import type { measureLedger } from "../../ledger/measureLedger.ts";
import { chapter } from "../chapter.ts";
import { table, whole } from "../table.ts";

type Measured = Awaited<ReturnType<typeof measureLedger>>;

export const ledger = chapter<Measured>({
  name: "ledger",
  command: "ledger",
  measure: async () => (await import("../../ledger/measureLedger.ts")).measureLedger(),
  text: (ledger) => `## Room in the ledger

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
)}`,
});
