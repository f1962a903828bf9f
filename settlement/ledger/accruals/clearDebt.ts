import type { Address } from "viem";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import { amount } from "../database/decode.ts";
import { lockOperators } from "../database/transactions/lockOrder.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress } from "../validate.ts";

// The platform was repaid what it absorbed; the payer may go on. Returns what was owed.
export function clearDebt(payer: Address) {
  const debtor = validAddress("the payer", payer);
  return async (tx: Tx): Promise<MicroUsdc> => {
    await lockOperators(tx);
    const cleared = await tx.all(
      `UPDATE charges SET cleared = 1
       WHERE payer = $1 AND charged_to <> payer AND cleared = 0 AND state <> 'refused'
       RETURNING amount`,
      [debtor],
    );
    const debt = cleared.reduce((sum, row) => sum + amount(row), 0n);
    tx.change(debtor, { debt: -debt });
    return microUsdc(debt);
  };
}
