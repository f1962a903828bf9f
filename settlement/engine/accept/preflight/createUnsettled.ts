import type { EngineContext } from "../../context.ts";

// Why no operator can settle anything at present; null if one can, or if none is known yet.
export type Unsettled = () => Promise<string | null>;

const LOOK_MS = 5_000;

// Prepaid money covers what is delivered because a refund takes longer than settlement. While the router is paused, or no operator may
// settle, settlement takes as long as that lasts: whoever has the guardian's key can make it last until another guardian is named, which
// takes longer than a refund. What is delivered meanwhile is on credit, like what an allowance pays for.
export function createUnsettled({
  ledger,
  chain,
  clock,
}: Pick<EngineContext, "ledger" | "chain" | "clock">): Unsettled {
  let last: { reason: string | null; atMs: number } | null = null;

  async function look(): Promise<string | null> {
    const [availability, operators] = await Promise.all([chain.availability(), ledger.listOperators()]);
    if (availability.kind === "unavailable") return availability.reason;
    for (const { operator } of operators) {
      const { limit, bonded } = await chain.operatorLimit(operator);
      if (limit > 0n && bonded) return null;
    }
    return operators.length === 0 ? null : "no operator may settle";
  }

  return async () => {
    const atMs = clock.nowMs();
    if (last === null || atMs < last.atMs || atMs - last.atMs >= LOOK_MS) last = { reason: await look(), atMs };
    return last.reason;
  };
}
