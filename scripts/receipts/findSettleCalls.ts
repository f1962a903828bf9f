import type { Address, Hex } from "viem";
import { settleOf } from "../../settlement/chain/router/settleCalls.ts";
import type { Session } from "../command/session.ts";
import { findCalls } from "./findCalls.ts";

// Where the calldata of a batch may be, the likeliest place first.
export const findSettleCalls = (
  session: Session,
  { hash, router, batchId }: { hash: string; router: string; batchId: Hex },
): AsyncGenerator<Hex> => findCalls(session, { hash, ...settleOf(router as Address, batchId) });
