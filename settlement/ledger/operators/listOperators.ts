import type { Address } from "viem";
import { address, count, text } from "../database/decode.ts";
import type { Reader } from "../database/sql.ts";
import { NOBODY } from "./lease.ts";

export type OperatorState = {
  operator: Address;
  holder: string | null;
  untilMs: number;
  nextNonce: number;
  // Nonces below it must be spent for good before anything is planned; below zero until it is known how far that is.
  fence: number;
  // Whether a person has given it up: nobody settles with it again.
  retired: boolean;
};

// Every operator that ever had a lease. The holder is null while nobody has it; whether `untilMs` has passed is for the
// caller's clock to say.
export function listOperators() {
  return async (sql: Reader): Promise<OperatorState[]> => {
    const rows = await sql.all(
      "SELECT operator, holder, until_at, next_nonce, fence, retired FROM operators ORDER BY operator",
    );
    return rows.map((row) => ({
      operator: address(row, "operator"),
      holder: text(row, "holder") === NOBODY ? null : text(row, "holder"),
      untilMs: count(row, "until_at"),
      nextNonce: count(row, "next_nonce"),
      fence: Number(row.fence),
      retired: count(row, "retired") === 1,
    }));
  };
}
