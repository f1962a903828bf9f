import type { Hex } from "viem";
import { ContextRouter__factory } from "../../typechain-types/index.ts";
import type { Session } from "../command/session.ts";
import { findCalls } from "./findCalls.ts";

const { selector } = ContextRouter__factory.createInterface().getFunction("settle");
const WORD_DIGITS = 64;
// The root is the second word behind the selector.
const ROOT_AT = selector.length - "0x".length + WORD_DIGITS;

// Where the calldata of a batch may be, the likeliest place first.
export const findSettleCalls = (
  session: Session,
  { hash, router, batchId }: { hash: string; router: string; batchId: Hex },
): AsyncGenerator<Hex> =>
  findCalls(session, {
    hash,
    to: router,
    selector,
    isIt: (call) => call.slice(ROOT_AT, ROOT_AT + WORD_DIGITS) === batchId.slice(2),
  });
