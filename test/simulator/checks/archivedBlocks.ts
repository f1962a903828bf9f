import type { ArchiveFolder } from "../../../settlement/ledger/archive/folder.ts";
import type { Block } from "../../../settlement/ledger/archive/format.ts";
import { listArchives } from "../../../settlement/ledger/archive/listArchives.ts";
import { createArchiveFiles } from "../../../settlement/ledger/archive/readBlock.ts";
import type { Reader } from "../../../settlement/ledger/database/sql.ts";

// Everything that has left the ledger, as the ledger of this moment counts it.
export async function archivedBlocks(read: Reader, folder: ArchiveFolder): Promise<Block[]> {
  const files = createArchiveFiles(folder);
  const blocks: Block[] = [];
  for (const archive of await listArchives(0, Number.MAX_SAFE_INTEGER)(read)) {
    for (let block = 0; block < archive.moved; block++) blocks.push(await files.blockOf(archive, block));
  }
  return blocks;
}
