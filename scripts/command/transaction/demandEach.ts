import { NotConfirmed } from "../confirm.ts";
import { isUnreachable } from "../isUnreachable.ts";
import { printable } from "../printable.ts";

export type Demanded = { sent: number; failed: string[] };

// Sends demands one by one. An operator can make any one of them fail, by its receipts, by its batch's size or by being first, and
// that must not keep the others from the court. Only a person's no and a node's silence end it.
export async function demandEach<Demand>(
  demands: readonly Demand[],
  sendOne: (demand: Demand) => Promise<unknown>,
): Promise<Demanded> {
  const demanded: Demanded = { sent: 0, failed: [] };
  for (const demand of demands) {
    try {
      await sendOne(demand);
      demanded.sent += 1;
    } catch (error) {
      if (error instanceof NotConfirmed || isUnreachable(error)) throw error;
      demanded.failed.push(printable(error instanceof Error ? error.message : String(error)));
    }
  }
  return demanded;
}
