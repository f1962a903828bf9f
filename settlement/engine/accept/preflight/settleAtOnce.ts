import type { Address } from "viem";
import type { EngineContext } from "../../context.ts";

// What a payer's calls came to waits in its sessions no longer. The next tick takes it to the chain, because somebody who has used
// up its credit waits for no company.
export async function settleAtOnce(
  { ledger, clock }: Pick<EngineContext, "ledger" | "clock">,
  payer: Address,
): Promise<void> {
  if (await ledger.hasWaiting(payer)) await ledger.flushPayer(payer, clock.nowMs());
}
