import type { Lease } from "../../ledger/ledger.ts";
import type { EngineContext } from "../context.ts";
import type { Finality } from "./finality.ts";

// A batch that a peer has settled is final while its own nonce still waits for its own bytes, which revert. Somebody who has the key may
// be faster, and nobody follows the batch any more: so the nonce is looked at until it is spent for good. As with a batch that is given
// up, bytes whose receipt nobody shows look the same.
export async function checkOpenNonces(
  { chain, ledger, report }: EngineContext,
  lease: Lease,
  final: Finality,
): Promise<void> {
  for (const { id, nonce, txHashes } of await ledger.listOpenNonces(lease.operator)) {
    if (!(await final.hasSpent(nonce))) continue;
    const receipts = await Promise.all(txHashes.map((txHash) => chain.receipt(txHash)));
    if (receipts.every((receipt) => receipt === null)) {
      report({ kind: "key_used_elsewhere", operator: lease.operator, nonce });
    }
    await ledger.closeNonce(lease, id);
  }
}
