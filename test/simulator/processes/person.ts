import { SettlementError } from "../../../settlement/domain/errors.ts";
import type { EngineContext } from "../../../settlement/engine/context.ts";
import { adopt, findUnknown } from "../../../settlement/engine/watch/adopt.ts";
import { reopenVanished } from "../../../settlement/engine/watch/reopenVanished.ts";
import type { Invariants } from "../checks/invariants.ts";

// Somebody who looks when all is halted: takes in what our keys have settled without this ledger, and lets it go on.
export async function look(
  context: EngineContext,
  invariants: Invariants,
  trace: (line: string) => void,
): Promise<void> {
  const { ledger } = context;
  if ((await ledger.readHalt()) === null) return;
  try {
    for (const { id, reopening } of await reopenVanished(context)) {
      trace(`a person looks at submission ${id}, which the chain has undone: ${reopening?.kind}`);
    }
    for (const batch of await findUnknown(context)) {
      const adoption = await adopt(context, batch);
      trace(`a person looks at batch ${batch.root}: ${adoption?.kind ?? "not found"}`);
      if (adoption === null || adoption.kind === "busy") return;
    }
    // What is not final yet may be unknown as well.
    if (await invariants.isExplained()) await ledger.resume();
  } catch (error) {
    if (!(error instanceof SettlementError && error.retryable)) throw error;
  }
}
