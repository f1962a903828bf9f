import type { Hex } from "viem";
import type { Session } from "../command/session.ts";

const WORD_DIGITS = 64;

type Frame = { to?: string; input?: string; calls?: Frame[] };

// What to look for: the calldata that `to` was called with in a transaction, of a function, without the prefix, as far as `isIt` knows
// it.
export type Wanted = { hash: string; to: string; selector: string; isIt(call: string): boolean };

// Where the calldata of a call may be, the likeliest place first. An operator acts in a transaction of its own; one who has something
// to hide may act from within a contract, and then it is somewhere in what the contract was given, or only a trace of the transaction
// has it.
export async function* findCalls({ provider }: Session, { hash, to, selector, isIt }: Wanted): AsyncGenerator<Hex> {
  const digits = selector.slice(2);
  const isWanted = (call: string) => call.startsWith(digits) && isIt(call);
  const transaction = await provider.getTransaction(hash);
  if (transaction === null) return;
  const data = transaction.data.slice(2);
  if (transaction.to === to && isWanted(data)) yield `0x${data}`;
  for (let at = data.indexOf(digits); at >= 0; at = data.indexOf(digits, at + 2)) {
    // Bytes among arguments follow their length.
    const length = 2 * Number(`0x${data.slice(Math.max(0, at - WORD_DIGITS), at) || "0"}`);
    const call = data.slice(at, at + length);
    if (call.length === length && isWanted(call)) yield `0x${call}`;
  }
  const trace = await provider.send("debug_traceTransaction", [hash, { tracer: "callTracer" }]).catch(() => null);
  for (const { to: called, input = "0x" } of framesOf(trace)) {
    const call = input.slice(2);
    if (called?.toLowerCase() === to.toLowerCase() && isWanted(call)) yield `0x${call}`;
  }
}

function framesOf(frame: Frame | null): Frame[] {
  return frame === null ? [] : [frame, ...(frame.calls ?? []).flatMap(framesOf)];
}
