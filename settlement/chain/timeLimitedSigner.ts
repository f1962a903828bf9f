import { SettlementError } from "../domain/errors.ts";
import type { Signer } from "./signer.ts";

// A signer behind a network may never answer. Its nonce is saved by then, so that the same transaction is signed later.
export function createTimeLimitedSigner(signer: Signer, timeoutMs: number): Signer {
  return {
    address: signer.address,
    async sign(transaction) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        const reason = `the signer of ${signer.address} did not answer within ${timeoutMs} ms`;
        timer = setTimeout(
          () => reject(new SettlementError("signer_unavailable", reason, { retryable: true })),
          timeoutMs,
        );
      });
      try {
        return await Promise.race([signer.sign(transaction), late]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
