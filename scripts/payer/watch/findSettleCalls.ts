import type { Hex } from "viem";
import { ContextRouter__factory } from "../../../typechain-types/index.ts";
import type { Session } from "../../command/session.ts";

const SELECTOR = ContextRouter__factory.createInterface().getFunction("settle").selector.slice(2);
const WORD_DIGITS = 64;
// The root is the second word behind the selector.
const ROOT_AT = SELECTOR.length + WORD_DIGITS;

type Frame = { to?: string; input?: string; calls?: Frame[] };

// Where the calldata of a batch may be, the likeliest place first. An operator settles in a transaction of its own; one who has
// something to hide may settle from within a contract, and then it is somewhere in what the contract was given, or only a trace
// of the transaction has it.
export async function* findSettleCalls(
  { provider }: Session,
  { hash, router, root }: { hash: string; router: string; root: Hex },
): AsyncGenerator<Hex> {
  const transaction = await provider.getTransaction(hash);
  if (transaction === null) return;
  const data = transaction.data.slice(2);
  if (transaction.to === router && isSettle(data, root)) yield `0x${data}`;
  for (let at = data.indexOf(SELECTOR); at >= 0; at = data.indexOf(SELECTOR, at + 2)) {
    // Bytes among arguments follow their length.
    const digits = 2 * Number(`0x${data.slice(Math.max(0, at - WORD_DIGITS), at) || "0"}`);
    const call = data.slice(at, at + digits);
    if (call.length === digits && isSettle(call, root)) yield `0x${call}`;
  }
  const trace = await provider.send("debug_traceTransaction", [hash, { tracer: "callTracer" }]).catch(() => null);
  for (const { to, input = "0x" } of framesOf(trace)) {
    const call = input.slice(2);
    if (to?.toLowerCase() === router.toLowerCase() && isSettle(call, root)) yield `0x${call}`;
  }
}

const isSettle = (call: string, root: Hex) =>
  call.startsWith(SELECTOR) && call.slice(ROOT_AT, ROOT_AT + WORD_DIGITS) === root.slice(2);

function framesOf(frame: Frame | null): Frame[] {
  return frame === null ? [] : [frame, ...(frame.calls ?? []).flatMap(framesOf)];
}
