import { SettlementError } from "../../domain/errors.ts";
import type { ArchiveFolder } from "../archive/folder.ts";

// The folder of an archive without a disk: what is written is there at once, and stays when a process dies.
export function createMemoryFolder(): ArchiveFolder & { files: Map<string, Buffer> } {
  const files = new Map<string, Buffer>();
  return {
    files,
    async write(name, parts) {
      files.set(name, Buffer.concat(parts));
    },
    async read(name, offset, length) {
      const file = files.get(name);
      if (file === undefined) {
        throw new SettlementError("archive_unavailable", `there is no file ${name}`, { retryable: true });
      }
      const start = offset < 0 ? Math.max(0, file.length + offset) : offset;
      return file.subarray(start, start + length);
    },
    sizeOf: async (name) => files.get(name)?.length ?? null,
    async sweep() {},
  };
}
