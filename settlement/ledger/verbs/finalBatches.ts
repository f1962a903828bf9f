import type { Hex } from "viem";
import { microUsdc } from "../../domain/money.ts";
import { hex } from "../decode.ts";
import { figuresFrom, NO_FIGURES, SUMS } from "../figures.ts";
import type { FinalBatches } from "../ledger.ts";
import type { Reader } from "../sql.ts";

export async function finalBatches(sql: Reader): Promise<FinalBatches> {
  const rows = await sql.all("SELECT id FROM submissions WHERE kind = 'settle' AND state = 'final'");
  const [totals] = await sql.all(`SELECT ${SUMS} FROM totals`);
  const { settled, absorbed } = totals === undefined ? NO_FIGURES : figuresFrom(totals);
  return { roots: new Set(rows.map((row): Hex => hex(row, "id"))), charged: microUsdc(settled + absorbed) };
}
