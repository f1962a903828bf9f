import type { Address } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import { count, text } from "../database/decode.ts";
import type { Run, Runner, Verb } from "../database/transactions/createRunner.ts";
import type { Tx } from "../database/transactions/tx.ts";
import { validAddress, validName } from "../validate.ts";
import { isHere } from "./home.ts";

// The right to write for an operator. The token grows with every new holder. A writer that lost its lease meanwhile gets a
// SettlementError "fenced" and has changed nothing.
export type Lease = { operator: Address; holder: string; token: number; untilMs: number };

// An operator without a holder, in a column that is never NULL.
export const NOBODY = "";

export function validLease(lease: Lease): Lease {
  const operator = validAddress("the operator", lease.operator);
  return { ...lease, operator, holder: validName("the holder", lease.holder) };
}

// Runs verbs that write for an operator: each begins by showing its lease, which cannot be forgotten here.
export function createLeased({ alone }: Runner) {
  return <Args extends unknown[], T>(verb: Verb<[Lease, ...Args], Tx, T>): Run<[Lease, ...Args], T> =>
    alone((lease: Lease, ...args: Args) => {
      const valid = validLease(lease);
      const work = verb(valid, ...args);
      return async (tx: Tx) => {
        await requireLease(tx, valid);
        return work(tx);
      };
    });
}

// For a person's command that changes what daemons may be in the middle of: whoever has a lease goes on with it in its next tick,
// and in this one changes nothing more. Whoever calls it has locked all operators.
export async function interruptOperators(tx: Tx): Promise<void> {
  await tx.run("UPDATE operators SET token = token + 1");
}

// The row stays locked until the commit, so that nobody can take the lease over in between. A lease that was given on another
// server says nothing here: what the tick has done since may be lost.
async function requireLease(tx: Tx, { operator, holder, token }: Lease): Promise<void> {
  const [row] = await tx.all(
    `SELECT holder, token, ${isHere(tx)} AS here FROM operators WHERE operator = $1 ${tx.locks.forUpdate}`,
    [operator],
  );
  if (row !== undefined && count(row, "here") === 0) {
    throw new SettlementError("fenced", `the ledger is not where ${holder} got its lease; nothing was changed`);
  }
  if (row !== undefined && count(row, "token") === token && text(row, "holder") === holder) return;
  throw new SettlementError(
    "fenced",
    `${holder} no longer holds the lease of operator ${operator}: token ${token} was followed by ` +
      `${row === undefined ? "none" : row.token}; nothing was changed`,
  );
}
