import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { SettlementError } from "../../domain/errors.ts";

// Where archived files are. Passed in, so that the simulator has one in memory.
export type ArchiveFolder = {
  // Resolves when the whole file is on disk under its name; before that there is nothing under it.
  write(name: string, parts: readonly Uint8Array[]): Promise<void>;
  // From an offset on, or from the end if it is below zero.
  read(name: string, offset: number, length: number): Promise<Uint8Array>;
  // Null if there is none.
  sizeOf(name: string): Promise<number | null>;
  // Files that a process left half written when it died.
  sweep(): Promise<void>;
};

const OWNER_ONLY = 0o600;
const FOLDER_OF_OWNER = 0o700;
const HALF_WRITTEN = ".part";

export function openArchiveFolder(path: string): ArchiveFolder {
  return {
    async write(name, parts) {
      await mkdir(path, { recursive: true, mode: FOLDER_OF_OWNER }).catch((cause) => unavailable(path, cause));
      const half = join(path, `${name}.${process.pid}${HALF_WRITTEN}`);
      try {
        const file = await open(half, "w", OWNER_ONLY);
        try {
          for (const part of parts) await file.writeFile(part);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(half, join(path, name));
        await syncFolder(path);
      } catch (cause) {
        await rm(half, { force: true }).catch(() => undefined);
        unavailable(join(path, name), cause);
      }
    },
    async read(name, offset, length) {
      try {
        const file = await open(join(path, name), "r");
        try {
          const start = offset < 0 ? Math.max(0, (await file.stat()).size + offset) : offset;
          const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
          return buffer.subarray(0, bytesRead);
        } finally {
          await file.close();
        }
      } catch (cause) {
        return unavailable(join(path, name), cause);
      }
    },
    async sizeOf(name) {
      try {
        const file = await open(join(path, name), "r");
        try {
          return (await file.stat()).size;
        } finally {
          await file.close();
        }
      } catch (cause) {
        return codeOf(cause) === "ENOENT" ? null : unavailable(join(path, name), cause);
      }
    },
    async sweep() {
      const names = await readdir(path).catch((cause) => (codeOf(cause) === "ENOENT" ? [] : unavailable(path, cause)));
      const own = new RegExp(`\\.(\\d+)\\${HALF_WRITTEN}$`);
      for (const name of names) {
        const [, pid] = own.exec(name) ?? [];
        if (pid !== undefined && !isRunning(Number(pid))) await rm(join(path, name), { force: true });
      }
    },
  };
}

// A name is durable once its folder is.
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

function unavailable(path: string, cause: unknown): never {
  const hint =
    codeOf(cause) === "ENOENT"
      ? "SETTLEMENT_ARCHIVE must name the folder in which the archive was written"
      : "make room or allow it";
  throw new SettlementError("archive_unavailable", `${path} cannot be used (${codeOf(cause)}); ${hint}`, {
    retryable: true,
    cause,
  });
}
