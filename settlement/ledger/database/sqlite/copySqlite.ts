import { closeSync, existsSync, fsyncSync, openSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { SettlementError } from "../../../domain/errors.ts";
import { createPrivately } from "./createPrivately.ts";

const BUSY_TIMEOUT_MS = 5_000;

// Writes a ledger file as it is at one moment into a new file, while others go on writing. Copying the file itself would
// miss what is in its log, or tear it.
export function copySqlite(path: string, target: string): void {
  if (existsSync(target) || !createPrivately(target, "the copy")) {
    throw new SettlementError("invalid_input", `${target} exists; name a new file, so that no older copy is lost`);
  }
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    // It takes an empty file for a new one.
    database.prepare("VACUUM INTO ?").run(target);
    markCopy(target);
  } catch (error) {
    // Half a copy is none.
    rmSync(target, { force: true });
    throw error;
  } finally {
    database.close();
  }
  const file = openSync(target, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

// However it is put back, in the place of the file or over its bytes, it must be known for a copy: what was signed after it was made
// may be on its way.
function markCopy(target: string): void {
  const copy = new DatabaseSync(target);
  try {
    copy.exec(
      `INSERT INTO homes (id, home, moved) VALUES (1, 'a copy', 0)
       ON CONFLICT (id) DO UPDATE SET home = 'a copy of ' || homes.home`,
    );
  } finally {
    copy.close();
  }
}
