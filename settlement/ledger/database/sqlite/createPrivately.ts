import { closeSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SettlementError } from "../../../domain/errors.ts";

const OWNER_ONLY = 0o600;

// Makes a new file that only its owner reads, whatever the umask is: what everybody pays for is nobody else's business. SQLite
// gives the files that it writes beside it the same mode. Returns false if there is a file already.
export function createPrivately(path: string, what: string): boolean {
  try {
    closeSync(openSync(path, "ax", OWNER_ONLY));
    return true;
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    if (code === "EEXIST" && statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    throw new SettlementError("invalid_config", `${what} ${path} cannot be written: ${reasonOf(code, path)}`, {
      cause,
    });
  }
}

function reasonOf(code: string, path: string): string {
  const folder = dirname(path);
  if (code === "EEXIST" || code === "EISDIR") return "it is there and not a file; name one";
  if (code === "ENOENT") return `there is no folder ${folder}; make it, or name a file elsewhere`;
  if (code === "ENOTDIR") return `${folder} is not a folder; name a file elsewhere`;
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return `this user may not write in ${folder} (${code}); name a file elsewhere`;
  }
  return `it cannot be made (${code}); name a file elsewhere`;
}
