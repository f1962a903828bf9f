import type { Hex } from "viem";

const WORD_DIGITS = 64;

// A call as a trace of a transaction shows it.
export type Frame = { to?: string; input?: string; calls?: Frame[] };

// What to look for: the calldata that `to` was called with, of a function, as far as `isIt` knows it without its prefix.
export type Wanted = { to: string; selector: string; isIt(call: string): boolean };

// Where the calldata of a call may be in a transaction, the likeliest place first. An operator acts in a transaction of its own; one
// who has something to hide may act from within a contract, and then it is somewhere in what the contract was given, or only a trace
// of the transaction has it.
export async function* callsIn(
  transaction: { to: string | null; input: string },
  { to, selector, isIt }: Wanted,
  trace: () => Promise<Frame | null>,
): AsyncGenerator<Hex> {
  const digits = selector.slice(2);
  const isWanted = (call: string) => call.startsWith(digits) && isIt(call);
  const data = transaction.input.slice(2);
  if (transaction.to?.toLowerCase() === to.toLowerCase() && isWanted(data)) yield `0x${data}`;
  for (let at = data.indexOf(digits); at >= 0; at = data.indexOf(digits, at + 2)) {
    // Bytes among arguments follow their length.
    const length = 2 * Number(`0x${data.slice(Math.max(0, at - WORD_DIGITS), at) || "0"}`);
    const call = data.slice(at, at + length);
    if (call.length === length && isWanted(call)) yield `0x${call}`;
  }
  for (const { to: called, input = "0x" } of framesOf(await trace())) {
    const call = input.slice(2);
    if (called?.toLowerCase() === to.toLowerCase() && isWanted(call)) yield `0x${call}`;
  }
}

function framesOf(frame: Frame | null): Frame[] {
  return frame === null ? [] : [frame, ...(frame.calls ?? []).flatMap(framesOf)];
}
