import type { Session } from "../command/session.ts";
import type { Call } from "../command/transaction/simulate.ts";

// The file that the Transaction Builder of a Safe imports: the calls, to be signed by the Safe's owners there.
export function safeTransactions({ chainId }: Session, safe: string, sentence: string, calls: readonly Call[]) {
  return {
    version: "1.0",
    chainId: chainId.toString(),
    createdAt: Date.now(),
    meta: { name: "context-settlement", description: sentence, createdFromSafeAddress: safe },
    transactions: calls.map(({ to, data }) => ({
      to,
      value: "0",
      data,
      contractMethod: null,
      contractInputsValues: null,
    })),
  };
}
