import { SettlementError } from "../../domain/errors.ts";
import type { MicroUsdc } from "../../domain/money.ts";
import { microUsdc } from "../../domain/money.ts";
import { letOthersRun } from "../../domain/scheduling/letOthersRun.ts";
import type { EngineContext } from "../context.ts";

export type ArchiveOptions = {
  // Called after each commit with how long it took, so that whoever accrues gets a turn.
  breathe?: (busyMs: number) => Promise<void>;
  maxFiles?: number;
};

// `held`: nothing leaves while a person must look, or while an archive is being restored.
export type Archiving = { files: number; charges: number; amount: MicroUsdc; bytes: number; held: string | null };

const MAX_FILES = 100_000;

// Moves what is final, and older than the policy says, out of the ledger: first goes on with what another process has begun, then
// file by file until nothing is left to move. It may be killed at any moment, and the next one goes on.
export async function archive(
  { ledger, clock, policy, reached }: Pick<EngineContext, "ledger" | "clock" | "policy" | "reached">,
  { breathe = letOthersRun, maxFiles = MAX_FILES }: ArchiveOptions = {},
): Promise<Archiving> {
  const done: Archiving = { files: 0, charges: 0, amount: microUsdc(0n), bytes: 0, held: null };
  const { afterMs, limits } = policy.archive;
  for (let file = 0; file < maxFiles; file++) {
    // Whatever a person may have to compare stays where it is.
    if ((await ledger.readHalt()) !== null) return { ...done, held: "settlement is halted" };
    const unfinished = await ledger.findUnfinishedArchive();
    if (unfinished?.state === "restoring") {
      return { ...done, held: `archive ${unfinished.number} is being restored; archive --restore ends that` };
    }
    const nowMs = clock.nowMs();
    const number = unfinished?.number ?? (await ledger.startArchive(nowMs - afterMs, nowMs, limits));
    if (number === null) return done;
    reached("after_archive_written");
    // Before anything leaves, what was written is read again.
    const damage = await ledger.verifyArchive(number);
    if (damage !== null) {
      // As long as nothing has left for it, it can be written again.
      if ((await ledger.findArchive(number))?.moved === 0) await ledger.cutArchive(number);
      throw new SettlementError("archive_unavailable", `${damage}; put a copy of it in its place`);
    }
    await move(number);
    const archived = await ledger.findArchive(number);
    if (archived === null) continue;
    done.files += 1;
    done.charges += archived.charges;
    done.amount = microUsdc(done.amount + archived.accrued);
    done.bytes += archived.bytes;
  }
  return done;

  async function move(number: number): Promise<void> {
    for (;;) {
      const startedAt = performance.now();
      const outcome = await ledger.moveArchived(number);
      reached("after_archive_moved");
      if (outcome.kind !== "moved" || outcome.left === 0) return;
      await breathe(performance.now() - startedAt);
    }
  }
}
