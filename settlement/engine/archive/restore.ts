import { SettlementError } from "../../domain/errors.ts";
import type { EngineContext } from "../context.ts";

// Brings an archive back into the ledger, block by block. Cut off, it goes on when it is asked for again. Returns how many blocks
// there were.
export async function restore({ ledger }: Pick<EngineContext, "ledger">, number: number): Promise<number> {
  const damage = (await ledger.findArchive(number)) === null ? null : await ledger.verifyArchive(number);
  if (damage !== null) throw new SettlementError("archive_unavailable", `${damage}; put a copy of it in its place`);
  const started = await ledger.startRestore(number);
  if (started.kind === "not_found") throw new SettlementError("invalid_input", `there is no archive ${number}`);
  if (started.kind === "busy") {
    throw new SettlementError(
      "invalid_input",
      `archive ${started.number} is being moved or restored; wait until it is done`,
    );
  }
  for (;;) {
    const outcome = await ledger.restoreArchived(number);
    if (outcome.kind !== "restored" || outcome.left === 0) return started.moved;
  }
}
