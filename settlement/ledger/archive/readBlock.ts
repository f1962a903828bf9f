import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { SettlementError } from "../../domain/errors.ts";
import type { ArchiveFolder } from "./folder.ts";
import { type Block, type Directory, decodeBlock, decodeDirectory, decodeTrailer, TRAILER_BYTES } from "./format.ts";
import type { Archive } from "./listArchives.ts";

type File = Pick<Archive, "number" | "file" | "checksum" | "bytes">;

export type ArchiveFiles = {
  folder: ArchiveFolder | null;
  directoryOf(archive: File): Promise<Directory>;
  blockOf(archive: File, block: number): Promise<Block>;
  // Reads the whole file again. A sentence for what is wrong with it, or null.
  verify(archive: File): Promise<string | null>;
};

const MAX_DIRECTORIES = 200;
const MAX_BLOCKS = 20;
const READ_BYTES = 1024 * 1024;

// The files of the archive, with those parts kept that were read last: a file never changes.
export function createArchiveFiles(folder: ArchiveFolder | null): ArchiveFiles {
  const directories = new LRUCache<string, Directory>({ max: MAX_DIRECTORIES });
  const blocks = new LRUCache<string, Block>({ max: MAX_BLOCKS });

  function requireFolder({ number }: File): ArchiveFolder {
    if (folder !== null) return folder;
    throw new SettlementError(
      "archive_unavailable",
      `this is in archive ${number}; SETTLEMENT_ARCHIVE must name the folder in which it was written`,
      { retryable: true },
    );
  }

  async function directoryOf(archive: File): Promise<Directory> {
    const known = directories.get(archive.file);
    if (known !== undefined) return known;
    const own = requireFolder(archive);
    const { offset, length } = decodeTrailer(await own.read(archive.file, -TRAILER_BYTES, TRAILER_BYTES));
    const directory = decodeDirectory(await own.read(archive.file, offset, length));
    directories.set(archive.file, directory);
    return directory;
  }

  return {
    folder,
    directoryOf,
    async blockOf(archive, block) {
      const key = `${archive.file} ${block}`;
      const known = blocks.get(key);
      if (known !== undefined) return known;
      const entry = (await directoryOf(archive)).blocks[block];
      if (entry === undefined) {
        throw new SettlementError(
          "archive_unavailable",
          `${archive.file} has no block ${block}; put a copy in its place`,
        );
      }
      const decoded = decodeBlock(await requireFolder(archive).read(archive.file, entry.offset, entry.length));
      blocks.set(key, decoded);
      return decoded;
    },
    async verify(archive) {
      const own = requireFolder(archive);
      const size = await own.sizeOf(archive.file);
      if (size === null) return `archive ${archive.number}: the file ${archive.file} is missing`;
      if (size !== archive.bytes) {
        return `archive ${archive.number}: the file ${archive.file} has ${size} bytes and should have ${archive.bytes}`;
      }
      const hash = createHash("sha256");
      for (let offset = 0; offset < size; offset += READ_BYTES) {
        hash.update(await own.read(archive.file, offset, Math.min(READ_BYTES, size - offset)));
      }
      return hash.digest("hex") === archive.checksum
        ? null
        : `archive ${archive.number}: the file ${archive.file} is not what was written`;
    },
  };
}
