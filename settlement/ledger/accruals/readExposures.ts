import type { Address } from "viem";
import { microUsdc } from "../../domain/money.ts";
import type { Exposure } from "../../domain/payer/payer.ts";
import { chunksOf, placeholders, type Reader } from "../database/sql.ts";
import { validAddress } from "../validate.ts";
import { exposureFrom } from "./decode.ts";

const NOTHING = microUsdc(0n);
const NO_EXPOSURE = {
  pending: NOTHING,
  held: NOTHING,
  owed: NOTHING,
  debt: NOTHING,
  settled: NOTHING,
  takenAtBlock: 0n,
};

// In the order and the spelling of the question.
export function readExposures(payers: readonly Address[]) {
  const asked = payers.map((payer) => validAddress("the payer", payer));
  return async (sql: Reader): Promise<Exposure[]> => {
    const known = new Map<Address, Exposure>();
    for (const chunk of chunksOf([...new Set(asked)])) {
      const rows = await sql.all(`SELECT * FROM payers WHERE payer IN (${placeholders(chunk.length)})`, chunk);
      for (const row of rows) {
        const exposure = exposureFrom(row);
        known.set(exposure.payer, exposure);
      }
    }
    return payers.map((payer, i) => ({
      ...(known.get(asked[i] ?? payer) ?? NO_EXPOSURE),
      payer,
    }));
  };
}
