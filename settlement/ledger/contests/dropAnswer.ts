import type { Hex } from "viem";
import { SettlementError } from "../../domain/errors.ts";
import type { Tx } from "../database/transactions/tx.ts";
import type { Lease } from "../operators/lease.ts";
import { ownSubmission, validId } from "../submissions/findSubmission.ts";

// Gives up an answer that the chain would refuse, before it has a nonce. Again without effect.
export function dropAnswer(lease: Lease, id: Hex) {
  const wanted = validId(id);
  return async (tx: Tx): Promise<void> => {
    const { kind, state, nonce } = await ownSubmission(tx, lease, wanted);
    if (state.kind === "abandoned") return;
    if (kind !== "answer" || state.kind !== "planned" || nonce !== null) {
      throw new SettlementError(
        "invalid_input",
        `submission ${wanted} is ${state.kind}: bytes of it may be on their way`,
      );
    }
    await tx.run("UPDATE submissions SET state = 'abandoned' WHERE id = $1", [wanted]);
  };
}
