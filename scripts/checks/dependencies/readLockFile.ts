import { readFileSync } from "node:fs";

export type LockedPackage = {
  // Where it is installed, like node_modules/a/node_modules/b.
  path: string;
  name: string;
  version: string;
  licence: string | null;
  integrity: string | null;
  hasInstallScript: boolean;
  // For another platform, and written down without having been fetched: npm's registry need not have every platform's
  // packages. The version stands in the package that asks for it, whose hash is pinned.
  unfetched: boolean;
  // Not part of what runs in production.
  development: boolean;
};

type Entry = {
  version?: string;
  license?: string;
  integrity?: string;
  hasInstallScript?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  dev?: boolean;
  devOptional?: boolean;
};

// Every package of the lock file, those of other platforms included.
export function readLockFile(): LockedPackage[] {
  const { packages }: { packages: Record<string, Entry> } = JSON.parse(readFileSync("package-lock.json", "utf8"));
  return Object.entries(packages)
    .filter(([path]) => path !== "")
    .map(([path, entry]) => ({
      path,
      name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version: entry.version ?? "",
      licence: entry.license ?? null,
      integrity: entry.integrity ?? null,
      hasInstallScript: entry.hasInstallScript ?? false,
      unfetched: entry.optional === true && (entry.os ?? entry.cpu) !== undefined && entry.integrity === undefined,
      development: (entry.dev ?? false) || (entry.devOptional ?? false),
    }));
}
