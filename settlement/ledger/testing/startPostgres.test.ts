import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { administer, nativeFolder, startPostgres } from "./startPostgres.ts";

// A folder that nobody but its owner can enter, as root's home is.
let folder: string;
let umask: number;
beforeEach(() => {
  umask = process.umask();
  folder = mkdtempSync(join(tmpdir(), "private folder-"));
  chmodSync(folder, 0o700);
});
afterEach(() => {
  process.umask(umask);
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe("PostgreSQL starts, whoever runs the tests", () => {
  it("from a clone in a private folder whose path has a space, under a strict umask", async () => {
    process.umask(0o077);
    const native = join(folder, "native");
    cpSync(nativeFolder(), native, { recursive: true, verbatimSymlinks: true });
    const server = await startPostgres({ fsync: false, native });
    await administer(server.url, "SELECT 1");
    await server.stop();
  });

  it("with a private folder for temporary files, and leaves nothing in it", async () => {
    vi.stubEnv("TMPDIR", folder);
    const server = await startPostgres({ fsync: false });
    await administer(server.url, "SELECT 1");
    await server.stop();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("or says where it has tried to", async () => {
    const native = join(folder, "absent");
    expect(existsSync(native)).toBe(false);
    await expect(startPostgres({ native })).rejects.toThrow(/there is no folder for PostgreSQL: .*tmp/);
  });
});
