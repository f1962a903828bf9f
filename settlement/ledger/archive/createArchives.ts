import { SettlementError } from "../../domain/errors.ts";
import type { Runner } from "../database/transactions/createRunner.ts";
import { validCount, validTime } from "../validate.ts";
import { type Archive, findArchive, findUnfinishedArchive, listArchives } from "./listArchives.ts";
import { Changed, cutArchive, type MoveOutcome, moveBlock } from "./moveBlock.ts";
import type { ArchiveFiles } from "./readBlock.ts";
import { type RestoreOutcome, restoreBlock, startRestore } from "./restoreBlock.ts";
import { ARCHIVE_LIMITS, type ArchiveLimits, selectBlocks } from "./selectBlocks.ts";
import { startArchive, writeArchive } from "./startArchive.ts";

export type Archives = ReturnType<typeof createArchives>;

// What is final and old leaves the ledger for files, and comes back from them.
export function createArchives({ alone, read, snapshot }: Runner, files: ArchiveFiles) {
  const find = read(findArchive);
  // Where a long read holds nobody up.
  const select = snapshot(selectBlocks);
  const start = alone(startArchive);
  const move = alone(moveBlock);
  const cut = alone(cutArchive);
  const restore = alone(restoreBlock);

  async function requireArchive(number: number): Promise<Archive> {
    const archive = await find(validCount("the archive", number));
    if (archive === null) throw new SettlementError("invalid_input", `there is no archive ${number}`);
    return archive;
  }

  return {
    findArchive: find,
    listArchives: read(listArchives),
    findUnfinishedArchive: read(findUnfinishedArchive),
    startRestore: alone(startRestore),
    cutArchive: cut,

    // Writes the oldest of what is finished and from before this time into a file, and says which archive it is. Null if there is
    // nothing to archive, or somebody else has begun.
    async startArchive(
      beforeMs: number,
      nowMs: number,
      limits: ArchiveLimits = ARCHIVE_LIMITS,
    ): Promise<number | null> {
      validTime("the time", beforeMs);
      if (files.folder === null) {
        throw new SettlementError(
          "invalid_config",
          "SETTLEMENT_ARCHIVE is missing; it names the folder of the archive",
        );
      }
      await files.folder.sweep();
      const written = await writeArchive(await select(beforeMs, limits), files.folder);
      return written === null ? null : start(written, validTime("now", nowMs));
    },

    // Moves the next block of an archive out of the ledger.
    async moveArchived(number: number): Promise<MoveOutcome | { kind: "cut" }> {
      const archive = await find(number);
      if (archive?.state !== "moving" || archive.moved === archive.blocks) return { kind: "elsewhere" };
      try {
        return await move(number, archive.moved, await files.blockOf(archive, archive.moved));
      } catch (error) {
        if (!(error instanceof Changed)) throw error;
        await cut(number);
        return { kind: "cut" };
      }
    },

    // Brings the last block of an archive back into the ledger.
    async restoreArchived(number: number): Promise<RestoreOutcome> {
      const archive = await requireArchive(number);
      if (archive.state !== "restoring") return { kind: "elsewhere" };
      const position = archive.moved - 1;
      return restore(number, position, await files.blockOf(archive, position));
    },

    // Whether a file is still what was written. A sentence if not.
    async verifyArchive(number: number): Promise<string | null> {
      return files.verify(await requireArchive(number));
    },
  };
}
