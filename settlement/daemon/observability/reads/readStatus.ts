import type { Ledger } from "../../../ledger/ledger.ts";
import { type Status, statusView } from "../../../views/service/status.ts";

export async function readStatus(ledger: Ledger): Promise<Status> {
  const [totals, gauges, halted] = await Promise.all([ledger.readTotals(), ledger.readGauges(), ledger.readHalt()]);
  return statusView(totals, gauges, halted);
}
