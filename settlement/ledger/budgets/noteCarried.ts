import type { MicroUsdc } from "../../domain/money.ts";
import type { BudgetKey } from "../../domain/payer/budget.ts";
import { touching } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validAmount } from "../validate.ts";

export type Carried = BudgetKey & { maxSpend: MicroUsdc };

// A final batch has brought a budget to the chain, up to this limit: later batches need not bring it again.
export function noteCarried({ payer, id, maxSpend }: Carried) {
  const account = validAddress("the payer", payer);
  const limit = validAmount("the budget", maxSpend);
  return touching({ lock: "payers", name: `${account} ${id}`, payers: [account] }, async (tx: Tx): Promise<void> => {
    await tx.run("UPDATE budgets SET carried = $3 WHERE payer = $1 AND id = $2 AND carried < $3", [
      account,
      id.toString(),
      limit,
    ]);
  });
}
