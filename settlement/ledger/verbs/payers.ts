import type { Address } from "viem";
import { type MicroUsdc, microUsdc } from "../../domain/money.ts";
import type { Exposure } from "../../domain/payer.ts";
import { address, amount } from "../decode.ts";
import { chunksOf, placeholders, type Reader } from "../sql.ts";
import type { Tx } from "../tx.ts";
import { validAddress } from "../validate.ts";

const NOTHING = microUsdc(0n);

// In the order and the spelling of the question.
export async function exposures(sql: Reader, payers: readonly Address[]): Promise<Exposure[]> {
  const asked = payers.map((payer) => validAddress("the payer", payer));
  const known = new Map<Address, Omit<Exposure, "payer">>();
  for (const chunk of chunksOf([...new Set(asked)])) {
    const rows = await sql.all(`SELECT * FROM payers WHERE payer IN (${placeholders(chunk.length)})`, chunk);
    for (const row of rows) {
      known.set(address(row, "payer"), {
        pending: amount(row, "pending"),
        held: amount(row, "held"),
        debt: amount(row, "debt"),
      });
    }
  }
  return payers.map((payer, i) => ({
    payer,
    ...(known.get(asked[i] ?? payer) ?? { pending: NOTHING, held: NOTHING, debt: NOTHING }),
  }));
}

export async function clearDebt(tx: Tx, payer: Address): Promise<MicroUsdc> {
  const cleared = await tx.all(
    `UPDATE charges SET cleared = 1
     WHERE payer = $1 AND charged_to <> payer AND cleared = 0 AND state <> 'refused'
     RETURNING amount`,
    [payer],
  );
  const debt = cleared.reduce((sum, row) => sum + amount(row), 0n);
  tx.change(payer, { debt: -debt });
  return microUsdc(debt);
}
