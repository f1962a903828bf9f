import type { Address, Hex } from "viem";
import type { ContestState } from "../../domain/batch/contest.ts";
import type { Tx } from "../database/transactions/tx.ts";
import type { Lease } from "../operators/lease.ts";
import { validAddress, validHash } from "../validate.ts";

// How it ended, as a final block shows. False if that was known.
export function closeContest(lease: Lease, batchId: Hex, account: Address, state: Exclude<ContestState, "open">) {
  const key = [validHash("the batch", batchId), validAddress("the account", account)];
  return async (tx: Tx): Promise<boolean> => {
    const closed = await tx.run(
      "UPDATE contests SET state = $3 WHERE batch_id = $1 AND account = $2 AND operator = $4 AND state = 'open'",
      [...key, state, lease.operator],
    );
    return closed > 0;
  };
}
