import { SettlementError } from "../../domain/errors.ts";
import { JsonRpcError } from "./jsonRpc.ts";

type Question<A extends readonly never[], T> = (...args: A) => Promise<T>;

// What comes out of a question is an answer or a SettlementError: none of viem's errors reaches the engine as it is.
export function answered<A extends readonly never[], T>(question: Question<A, T>): Question<A, T> {
  return async (...args) => {
    try {
      return await question(...args);
    } catch (error) {
      throw (
        settlementErrorIn(error) ??
        new SettlementError("chain_unavailable", `the chain gave no usable answer: ${summaryOf(error)}`, {
          retryable: true,
          cause: error,
        })
      );
    }
  };
}

// The same for all questions of a kind.
export function allAnswered<Q extends Record<string, Question<never, unknown>>>(questions: Q): Q {
  return Object.fromEntries(Object.entries(questions).map(([name, question]) => [name, answered(question)])) as Q;
}

export function settlementErrorIn(error: unknown): SettlementError | undefined {
  return causesOf(error).find((cause) => cause instanceof SettlementError);
}

// The bound of a walk along causes, which could be a circle.
const MAX_CAUSES = 16;

export function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  let cause = error;
  while (cause instanceof Error && causes.length < MAX_CAUSES) {
    causes.push(cause);
    cause = cause.cause;
  }
  return causes;
}

function summaryOf(error: unknown): string {
  const rpcError = causesOf(error).find((cause) => cause instanceof JsonRpcError);
  if (rpcError) return rpcError.message;
  if (!(error instanceof Error)) return String(error);
  return "shortMessage" in error ? String(error.shortMessage) : error.message;
}
